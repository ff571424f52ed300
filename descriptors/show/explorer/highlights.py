"""Find the elements that a page highlights for a descriptor field or for a mode of a layout.

A field highlights the elements of a subtile that are read from another address if the field has another value. The
read model decides this, not the layouts: the field is changed, and the addresses are compared. An offset field is
increased by a multiple of every swizzle pattern, so that the difference counts how often the offset is added.

A mode highlights a walk over the tile. The coordinate of a mode is one digit of the element's index along MN or K. A
mode walks from an element to the elements that differ in this digit alone.

Invariants: an element that a field does not highlight is read from the same address for every tried value of the
field. The sum of digits times strides is the offset that the layout gives.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> fields = field_elements(View(d))
>>> fields["stride_byte_offset"]["boxes"][0], fields["leading_byte_offset"]["boxes"]
([1, 8, 0, 8, 16], [])
>>> fields["stride_byte_offset"]["said"]
'stride_byte_offset: 896 of 1024 elements are 1 to 7 steps of 1024 bytes further'
>>> [(mode["text"], mode["axis"], mode["period"]) for mode in walks(d)[0]]
[('8:64', 0, 1), ('16:512', 0, 8), ('64:1', 1, 1), ('2:8192', 1, 64)]
>>> element = 11, 85
>>> sum(mode["stride"] * (element[mode["axis"]] // mode["period"] % mode["extent"]) for mode in walks(d)[0])
8917
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from descriptors.errors import DescriptorError
from descriptors.show.explorer.question import own_word, read_fields
from descriptors.show.stages.view import View
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.explanation import names
from descriptors.smem.operands.swizzled import plain
from descriptors.smem.proof.addresses import address_bits, fetched_rows
from descriptors.smem.words.bitfield import Field
from descriptors.text import bits_text, counted
from layoutalg import Layout, flatten, size

#: The change of an offset in bytes. It is a multiple of every swizzle pattern, so it does not change the exclusive-or.
MOVED = 1024

#: How often an offset field is added for each element of a subtile, row by row; 1 for the elements that another field
#: affects.
Counts = list[list[int]]
#: A block of elements of a subtile: count, first row, first column, number of rows, number of columns.
Box = list[int]


def field_elements(view: View) -> dict[str, Any]:
    """Return the elements of the chosen subtile that each field of its descriptor affects.

    Returns:
        For each field ``boxes``, blocks of elements relative to the first of the subtile, and ``said``, a sentence.
    """
    rows = _elements_by_field(view.derivation, own_word(view))
    return {name: {"boxes": [list(box) for box in boxes], "said": said} for name, boxes, said in rows}


@lru_cache(maxsize=64)
def _elements_by_field(d: Derivation, word: int) -> tuple[tuple[str, tuple[Box, ...], str], ...]:
    rows = []
    for field in read_fields(d.arch):
        counts = _counts(d, word, field)
        boxed_counts = counts if counts is not None else []
        rows.append((field.name, tuple(boxes(boxed_counts)), _sentence(d, word, field, counts)))
    return tuple(rows)


def boxes(counts: Counts) -> Iterator[Box]:
    """Yield the blocks of equal nonzero counts. Equal adjacent rows are one block.

    >>> list(boxes([[0, 1, 1], [0, 1, 1], [2, 2, 0]]))
    [[1, 0, 1, 2, 2], [2, 2, 0, 1, 2]]
    """
    down = 0
    for row, alike in groupby(counts):
        high, across = len(list(alike)), 0
        for count, run in groupby(row):
            wide = len(list(run))
            if count:
                yield [count, down, across, high, wide]
            across += wide
        down += high


def _counts(d: Derivation, word: int, field: Field) -> Counts | None:
    """Return how often a field is added for each element; None if no other value of it can be read."""
    own = _read(d, word)
    sums: Counts | None = None
    for other, step in _others(word, field):
        try:
            read = _read(d, other)
        except DescriptorError:  # the value is not legal, or not for this operand
            continue
        scale = step * 8 // address_bits(d.element)
        each = [
            [(b - a) // scale if scale else int(a != b) for a, b in zip(first, second, strict=True)]
            for first, second in zip(own, read, strict=True)
        ]
        sums = each if sums is None else [list(map(max, *rows)) for rows in zip(sums, each, strict=True)]
    return sums


def _others(word: int, field: Field) -> Iterator[tuple[int, int]]:
    """Yield descriptors with another value of a field, and the bytes added to it; 0 if the field is not an offset."""
    value = (word & field.mask) >> field.low
    if field.unit > 1:
        step = MOVED if (value * field.unit + MOVED) // field.unit < 1 << field.bits else -MOVED
        yield word + (step // field.unit << field.low), step
        return
    for other in [code for _, code in field.codes] or range(1 << field.bits):
        if other != value:
            yield word & ~field.mask | other << field.low, 0


def _read(d: Derivation, word: int) -> list[list[int]]:
    return fetched_rows([word], arch=d.arch, element=d.element, major=d.major, shape=d.mma)[0]


def _sentence(d: Derivation, word: int, field: Field, counts: Counts | None) -> str:
    if counts is None:
        return f"{field.name}: the documents define no other value"
    steps = [count for row in counts for count in row if count]
    whole = counted(d.mma[0] * d.mma[1], "element")
    if not steps:
        return f"{field.name}: affects no element of the subtile"
    if field.unit == 1:
        return f"{field.name}: another value changes the address of {len(steps)} of {whole}"
    if len(steps) == d.mma[0] * d.mma[1]:
        return f"{field.name}: added to the address of all {whole} of the subtile"
    value = ((word & field.mask) >> field.low) * field.unit
    many = "1 step" if max(steps) == 1 else f"{min(steps)} to {max(steps)} steps"
    return f"{field.name}: {len(steps)} of {whole} are {many} of {value} bytes further"


#: Extents (MN, K).
Pair = tuple[int, int]


def walks(d: Derivation) -> list[list[dict[str, Any]]]:
    """Return the modes of the layout of each of the five steps, without modes of extent 1 and of stages.

    Returns:
        For each mode its ``text``, ``name`` and a description, ``said``; ``axis``, 0 for MN or 1 for K; ``period``,
        the number of elements that one step spans along that axis; ``extent``, the number of steps; ``stride`` in
        units of its layout; ``block``, the extents in elements of one unit of that layout.
    """
    return [[dict(mode) for mode in step] for step in _walks(d)]


@lru_cache(maxsize=32)
def _walks(d: Derivation) -> tuple[tuple[dict[str, Any], ...], ...]:
    bits, many = d.element.storage_bits, d.element.per_16_bytes
    unit: Pair = (1, many) if d.major.contiguous_mode else (many, 1)
    mn, k, *_ = plain(d.smem_tile)
    tile = tuple(_step(d, ((mn,), (k,)), ("",), (1, 1), bits))
    if d.crossing is not None:  # the 16-byte columns of a crossing operand are not parts of one operand
        return (tile, (), (), (), ())
    halves, canonical, (rows, columns, *_) = ("operand ", "subtiles "), d.canonical, plain(d.advance)
    return (
        tile,
        tuple(_step(d, _halves(plain(d.partitioned)), halves, (1, 1), bits)),
        tuple(_step(d, _halves(plain(d.recast)), halves, unit, 128)),
        tuple(_step(d, [tuple(canonical[i]) for i in (0, 1)], ("chunk ", "rest "), unit, 128)),
        tuple(_step(d, [(rows,), (columns,)], ("subtiles ",), d.mma, 128)),
    )


def _halves(layout: Layout) -> list[tuple[Layout, ...]]:
    """Return for each axis the layout that one instruction reads, and the layout of the subtiles."""
    operand, rest = layout
    return [(inside, part) for inside, part in zip(operand, rest, strict=False)]


def _step(
    d: Derivation, axes: Sequence[Iterable[Layout]], parts: Sequence[str], block: Pair, unit_bits: int
) -> Iterable[dict[str, Any]]:
    """Yield the modes of a layout: for each axis its parts, the fastest first."""
    for axis, layouts in enumerate(axes):
        period = block[axis]
        named = [(part, mode) for part, layout in zip(parts, layouts, strict=True) for mode in flatten(layout)]
        for part, mode in named:
            extent, stride = size(mode), mode(1) if size(mode) > 1 else 0
            name = f"{part}{names(d)[axis]}"
            if extent > 1:
                yield {
                    "name": name, "text": str(mode), "axis": axis, "period": period, "extent": extent,
                    "stride": stride, "block": list(block),
                    "said": f"{name} {mode}: {extent} positions, {bits_text(stride * unit_bits)} apart",
                }  # fmt: skip
            period *= extent
