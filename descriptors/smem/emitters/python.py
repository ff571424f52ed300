"""Emit Python: two functions without dependencies.

Invariant: the two functions return the words of the derivation, for every address of the tile.

>>> from descriptors import derive
>>> from descriptors.smem.emitters.recipe import recipe
>>> d, module = derive((128, 128), "bf16", "MN", "64B", (64, 16)), {}
>>> exec(write(recipe(d, "a")), module)
>>> cases = [(base, mn, k) for base in (0, 1024, 1 << 16) for mn in range(2) for k in range(8)]
>>> all(module["a_subtile"](module["a_first"](base), mn, k) == d.words(base)[mn][k] for base, mn, k in cases)
True
"""

from __future__ import annotations

from descriptors.smem.emitters.recipe import Recipe
from descriptors.text import word_text


def write(recipe: Recipe) -> str:
    """Write the constants and the two functions, for Python 3.8 and newer.

    >>> from descriptors import derive
    >>> from descriptors.smem.emitters.recipe import recipe
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> module = {}
    >>> exec(write(recipe(d, "a")), module)
    >>> [hex(module["a_subtile"](module["a_first"](0x400), 0, k)) for k in (0, 1, 4)]
    ['0x4000404000010040', '0x4000404000010042', '0x4000404000010440']
    """
    name, constant, parameters = recipe.name, recipe.constant, ", ".join(recipe.coordinates)
    inside = " and ".join(
        f"0 <= {one} < {extent}" for one, extent in zip(recipe.coordinates, recipe.extents, strict=True)
    )
    address = f"(tile_address + {recipe.start_bytes})" if recipe.start_bytes else "tile_address"
    shape = "x".join(map(str, recipe.extents))
    transposed = recipe.transposed_line(f"{constant('TRANSPOSED')} = ", "  # ")
    start = f"({address} & {recipe.window_mask:#x}) >> {recipe.unit_bits}"
    first, subtile_word, line, also = start, f"first & ~{recipe.field_mask:#x} | moved & {recipe.field_mask:#x}", "", ""
    if recipe.line_low:
        first, also = f"({start}) * {1 | 1 << recipe.line_low:#x}", " and the line in which K goes on"
        line = f"    line = first + ({recipe.line.spell()} << {recipe.line_low})\n"
        subtile_word = f"first & ~{recipe.field_mask | recipe.line_mask:#x} | moved & {recipe.field_mask:#x}"
        subtile_word += f" | line & {recipe.line_mask:#x}"
    return f"""{recipe.commented("#")}
{constant("word")} = {word_text(recipe.word)}  # every field but the start address{also}
{transposed}

def {name}_first(tile_address):
    \"\"\"Descriptor of the first subtile of a tile at this shared-memory address.\"\"\"
    if tile_address % {recipe.alignment_bytes}:
        raise ValueError(f"the tile must start at a multiple of {recipe.alignment_bytes} bytes, found {{tile_address}}")
    return {constant("word")} | {first}


def {name}_subtile(first, {parameters}):
    \"\"\"Descriptor of another subtile; the sum stays within the start-address field, whatever the address.\"\"\"
    if not ({inside}):
        raise IndexError(f"there are {shape} subtiles, found {{({parameters})}}")
    moved = first + {recipe.offset.spell()}
{line}    return {subtile_word}
"""
