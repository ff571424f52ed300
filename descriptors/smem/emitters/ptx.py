r"""Emit PTX: registers and two scoped blocks, one for the first descriptor and one for the others.

Invariant: executing the instructions of the advance computes the advance of every subtile.

>>> import re
>>> from descriptors import derive
>>> from descriptors.smem.emitters.recipe import recipe
>>> operations = {"mul.lo": lambda a, b: a * b, "mad.lo": lambda a, b, c: a * b + c}
>>> operations |= {"shr": lambda a, b: a >> b, "and": lambda a, b: a & b}
>>> def run(lines, values):
...     for line in lines:
...         name, target, *sources = re.findall(r"[%\w.]+", line)
...         numbers = [int(source) if source.isdigit() else values[source] for source in sources]
...         values[target] = operations[name[: name.rindex(".")]](*numbers)
...     return values["offset"]
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> of_a = recipe(d, "a")
>>> lines, subtiles = list(_advance(of_a, of_a.offset.terms)), [(mn, k) for mn in range(2) for k in range(8)]
>>> all(run(lines, {"%a_mn": mn, "%a_k": k}) == d.advance(mn, k) for mn, k in subtiles)
True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descriptors.smem.emitters.recipe import Recipe, Term
from descriptors.text import word_text


def write(recipe: Recipe) -> str:
    """Write the declarations and the two blocks, each of which may be pasted several times.

    Inputs are the address and the coordinates, in 32-bit registers. Outputs are ``%NAME_first`` and ``%NAME_subtile``,
    in 64-bit registers. ``bfi`` inserts the new start address into its field without changing the other bits.

    >>> from descriptors import derive
    >>> from descriptors.smem.emitters.recipe import recipe
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> [line for line in write(recipe(d, "a")).splitlines() if "bfi" in line]
    ['    bfi.b64 %a_subtile, moved, %a_first, 0, 14;']
    """
    name = recipe.name
    inputs = ", ".join(f"%{name}_{value}" for value in ("address", *recipe.coordinates))
    # The first subtile of a slice of a larger tile is at an offset from the tile's address.
    start, source = "", f"%{name}_address"
    if recipe.start_bytes:
        start, source = f"    add.u32 start, {source}, {recipe.start_bytes};\n", "start"
    advance = "".join(f"    {line}\n" for line in _advance(recipe, recipe.offset.terms))
    doubled, moved_line = _line(recipe) if recipe.line_low else ("", "")
    # PTX has no named constants; the bit is an immediate of the instruction, or a bit of the instruction descriptor.
    transposed = recipe.transposed_line("// transposed = ", ": ")
    return f"""{recipe.commented("//")}{transposed}
.reg .b32 {inputs};  // in: address of the tile in shared memory; which subtile
.reg .b64 %{name}_first, %{name}_subtile;  // out

// Descriptor of the first subtile.
{{
    .reg .b32 start;
    .reg .b64 wide;
{start}    and.b32 start, {source}, {recipe.window_mask:#x};
    shr.u32 start, start, {recipe.unit_bits};
    cvt.u64.u32 wide, start;
{doubled}    or.b64 %{name}_first, wide, {word_text(recipe.word)};
}}

// Descriptor of another subtile; the sum stays within the start-address field, whatever the address.
{{
    .reg .b32 offset, digit;
    .reg .b64 moved{", line" if recipe.line_low else ""};
{advance}    cvt.u64.u32 moved, offset;
    add.u64 moved, %{name}_first, moved;
    bfi.b64 %{name}_subtile, moved, %{name}_first, 0, {recipe.field_mask.bit_length()};
{moved_line}}}
"""


def _line(recipe: Recipe) -> tuple[str, str]:
    """Return the additional lines of both blocks for operands that cross atoms, which set LBO."""
    name, low = recipe.name, recipe.line_low
    terms = "".join(f"    {line}\n" for line in _advance(recipe, recipe.line.terms))
    advance = f"""{terms}    cvt.u64.u32 moved, offset;
    shr.u64 line, %{name}_first, {low};
    add.u64 moved, line, moved;
    bfi.b64 %{name}_subtile, moved, %{name}_subtile, {low}, {recipe.field_mask.bit_length()};
"""
    return f"    mul.lo.u64 wide, wide, {1 | 1 << low:#x};\n", advance


def _advance(recipe: Recipe, terms: Sequence[Term]) -> Iterator[str]:
    """Yield the instructions that compute the sum of the terms in ``offset``."""
    if not terms:
        yield "mov.u32 offset, 0;"
    for i, term in enumerate(terms):
        digit = f"%{recipe.name}_{term.coordinate}"
        for line in digit_lines(term, digit):
            digit = "digit"
            yield line
        yield (
            f"mad.lo.u32 offset, {digit}, {term.factor}, offset;"
            if i
            else f"mul.lo.u32 offset, {digit}, {term.factor};"
        )


def digit_lines(term: Term, source: str) -> Iterator[str]:
    """Yield the instructions that compute ``source // divisor % modulus`` in ``digit``; none if it is the source.

    >>> list(digit_lines(Term("k", 4, 8, 16), "%k"))
    ['shr.u32 digit, %k, 2;', 'and.b32 digit, digit, 7;']
    """
    if term.scale > 1:
        yield f"mad.lo.u32 digit, {source}, {term.scale}, {term.shift};"
        source = "digit"
    if term.divisor > 1:
        if term.divisor & (term.divisor - 1):
            yield f"div.u32 digit, {source}, {term.divisor};"
        else:
            yield f"shr.u32 digit, {source}, {term.divisor.bit_length() - 1};"
        source = "digit"
    if term.modulus is not None:
        if term.modulus & (term.modulus - 1):
            yield f"rem.u32 digit, {source}, {term.modulus};"
        else:
            yield f"and.b32 digit, {source}, {term.modulus - 1};"
