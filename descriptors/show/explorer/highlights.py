"""What a page lights when a field of the word, or a mode of a layout, is pointed at.

A field lights the elements of a subtile that another value would read from elsewhere. It is asked of the read model,
not of the layouts: a field is changed, and what is then read is compared. An offset is made larger by a multiple of
every swizzle pattern, so that the difference counts how often it is added.

A mode lights a walk over the tile. A coordinate of a mode is a digit of the element's place along MN or K; what else a
digit could be does not change, so a mode walks from an element to those that differ in its digit alone.

Laws: an element that a field does not light is read from the same address, whatever the field's value; digits times
strides, added up, are the offset that the layout gives.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> fields = field_elements(View(d))
>>> fields["stride_byte_offset"]["boxes"][0], fields["leading_byte_offset"]["boxes"]
([1, 8, 0, 8, 16], [])
>>> fields["stride_byte_offset"]["said"]
'stride_byte_offset: 896 of 1024 elements lie 1 to 7 steps of 1024 bytes on'
>>> [(mode["text"], mode["axis"], mode["period"]) for mode in walks(d)[0]]
[('8:64', 0, 1), ('16:512', 0, 8), ('64:1', 1, 1), ('2:8192', 1, 64)]
>>> at = 11, 85
>>> sum(mode["stride"] * (at[mode["axis"]] // mode["period"] % mode["extent"]) for mode in walks(d)[0])
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

#: What an offset is changed by, in bytes: a multiple of every swizzle pattern, which the exclusive-or leaves alone.
MOVED = 1024

#: How often a field counts for each element of a subtile, in the order of its rows; or 1 where it does and has no size.
Counts = list[list[int]]
#: A block of elements of a subtile: the count, first row and column, rows and columns.
Box = list[int]


def field_elements(view: View) -> dict[str, Any]:
    """The elements of the chosen subtile that each field of its word concerns.

    Returns:
        For each field ``boxes``, blocks of elements counted from the subtile's first, and ``said``, in a sentence.
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
    """Blocks of one count, but of 0; rows that are alike are one.

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
    """How often a field counts for each element; None if no other value can be read."""
    own = _read(d, word)
    sums: Counts | None = None
    for other, step in _others(word, field):
        try:
            read = _read(d, other)
        except DescriptorError:  # which is no word, or none that this operand can have
            continue
        scale = step * 8 // address_bits(d.element)
        each = [
            [(b - a) // scale if scale else int(a != b) for a, b in zip(one, two, strict=True)]
            for one, two in zip(own, read, strict=True)
        ]
        sums = each if sums is None else [list(map(max, *rows)) for rows in zip(sums, each, strict=True)]
    return sums


def _others(word: int, field: Field) -> Iterator[tuple[int, int]]:
    """Words with another value of a field, each with the step in bytes that was added to it; 0 if it is no offset."""
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
    steps = [one for row in counts for one in row if one]
    whole = counted(d.mma[0] * d.mma[1], "element")
    if not steps:
        return f"{field.name}: no element of the subtile is read by it"
    if field.unit == 1:
        return f"{field.name}: {len(steps)} of {whole} would be read from elsewhere with another value"
    if len(steps) == d.mma[0] * d.mma[1]:
        return f"{field.name}: all {whole} of the subtile are counted from it"
    value = ((word & field.mask) >> field.low) * field.unit
    many = "1 step" if max(steps) == 1 else f"{min(steps)} to {max(steps)} steps"
    return f"{field.name}: {len(steps)} of {whole} lie {many} of {value} bytes on"


#: Extents (MN, K).
Pair = tuple[int, int]


def walks(d: Derivation) -> list[list[dict[str, Any]]]:
    """The modes of each of the five steps, but those of extent 1 and of stages.

    Returns:
        For each mode its ``text``, ``name`` and what it is ``said`` to be; ``axis`` 0 for MN or 1 for K; ``period``,
        how many elements one step is along that axis; ``extent``, how many steps; ``stride`` in the units of its
        layout; ``block``, the extents of what one place of that layout stands for, in elements.
    """
    return [[dict(mode) for mode in step] for step in _walks(d)]


@lru_cache(maxsize=32)
def _walks(d: Derivation) -> tuple[tuple[dict[str, Any], ...], ...]:
    bits, many = d.element.storage_bits, d.element.per_16_bytes
    unit: Pair = (1, many) if d.major.contiguous_mode else (many, 1)
    mn, k, *_ = plain(d.smem_tile)
    tile = tuple(_step(d, ((mn,), (k,)), ("",), (1, 1), bits))
    if d.crossing is not None:  # whose columns of 16 bytes are no parts of one operand
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
    """What one instruction reads along each axis, and which of them it is."""
    operand, rest = layout
    return [(inside, part) for inside, part in zip(operand, rest, strict=False)]


def _step(
    d: Derivation, axes: Sequence[Iterable[Layout]], parts: Sequence[str], block: Pair, unit_bits: int
) -> Iterable[dict[str, Any]]:
    """The modes of a layout: for each axis its parts, the fastest first."""
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
                    "said": f"{name} {mode}: {extent} places, {bits_text(stride * unit_bits)} apart",
                }  # fmt: skip
            period *= extent
