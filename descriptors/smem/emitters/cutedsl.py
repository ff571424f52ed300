"""CuTe DSL: two plain functions to call inside ``@cute.jit`` or ``@cute.kernel``, on static or dynamic coordinates.

Law: on plain integers, for which nothing wraps here, the two functions give the words of the derivation.

>>> from descriptors import derive
>>> from descriptors.smem.emitters.recipe import recipe
>>> d, made = derive((128, 128), "bf16", "K", "128B", (64, 16)), {"Uint32": int, "Uint64": int}
>>> exec(write(recipe(d, "a")), made)
>>> words = tuple(tuple(made["a_subtile"](made["a_first"](1024), mn, k) for k in range(8)) for mn in range(2))
>>> words == d.words(1024)
True
"""

from __future__ import annotations

from descriptors.smem.emitters.recipe import Recipe
from descriptors.text import word_text

_WORD = 2**64 - 1

#: What stands at the top of the text.
HEAD = "from cutlass import Uint32, Uint64\n\n"


def write(recipe: Recipe) -> str:
    """The text for the CuTe DSL. A static coordinate costs nothing: its offset is a constant of the trace.

    >>> from descriptors import derive
    >>> from descriptors.smem.emitters.recipe import recipe
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> [line.strip() for line in write(recipe(d, "a")).splitlines() if "Uint64(mn" in line]
    ['moved = first + Uint64(mn * 512 + k % 4 * 2 + k // 4 * 1024)']
    """
    name, constant = recipe.name, recipe.constant
    address = "Uint32(tile_address)" + (f" + Uint32({recipe.start_bytes})" if recipe.start_bytes else "")
    rest = _WORD & ~recipe.field_mask
    transposed = recipe.transposed_line(f"{constant('TRANSPOSED')} = ", "  # ")
    start = f"Uint64((({address}) & Uint32({recipe.window_mask:#x})) >> {recipe.unit_bits})"
    address_part, line, also = f"moved & Uint64({recipe.field_mask:#x})", "", ""
    if recipe.line_low:
        start, also = f"{start} * Uint64({1 | 1 << recipe.line_low:#x})", " and the line in which K goes on"
        line = f"    line = first + (Uint64({recipe.line.spell()}) << {recipe.line_low})\n"
        address_part, rest = f"{address_part} | line & Uint64({recipe.line_mask:#x})", rest & ~recipe.line_mask
    return f"""{recipe.commented("#")}
{constant("word")} = {word_text(recipe.word)}  # every field but the start address{also}
{constant("alignment_bytes")} = {recipe.alignment_bytes}
{transposed}

def {name}_first(tile_address):
    \"\"\"Descriptor of the first subtile; the address is that of the tile in shared memory (``pointer.toint()``).\"\"\"
    return Uint64({constant("word")}) | {start}


def {name}_subtile(first, {", ".join(recipe.coordinates)}):
    \"\"\"Descriptor of another subtile; the sum stays within the start-address field, whatever the address.\"\"\"
    moved = first + Uint64({recipe.offset.spell()})
{line}    return first & Uint64({word_text(rest)}) | {address_part}
"""
