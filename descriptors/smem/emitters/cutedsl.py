"""Emit CuTe DSL code: two functions to call in ``@cute.jit`` or ``@cute.kernel``, with static or dynamic coordinates.

Invariant: with plain integers, which do not overflow here, the two functions return the words of the derivation.

>>> from descriptors import derive
>>> from descriptors.smem.emitters.recipe import recipe
>>> d, module = derive((128, 128), "bf16", "K", "128B", (64, 16)), {"Uint32": int, "Uint64": int}
>>> exec(write(recipe(d, "a")), module)
>>> words = tuple(tuple(module["a_subtile"](module["a_first"](1024), mn, k) for k in range(8)) for mn in range(2))
>>> words == d.words(1024)
True
"""

from __future__ import annotations

from descriptors.smem.emitters.recipe import Recipe
from descriptors.text import word_text

_WORD = 2**64 - 1

#: The head of the text.
HEAD = "from cutlass import Uint32, Uint64\n\n"


def write(recipe: Recipe) -> str:
    """Write the constants and the two functions; the offset of a static coordinate is a constant in the trace.

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
