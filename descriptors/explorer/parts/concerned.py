"""Which elements of a subtile each field of its word concerns: those that another value would read from elsewhere.

Asked of the read model, not of the layouts: a field is changed, and what is then read is compared. An offset is made
larger by a multiple of every swizzle pattern, so that the difference counts how often it is added. Law: an element that
a field does not concern is read from the same address, whatever the field's value.

>>> from descriptors import derive
>>> found = concerned(View(derive((128, 128), "bf16", "K", "128B", (64, 16))))
>>> found["stride_byte_offset"]["boxes"][0], found["leading_byte_offset"]["boxes"]
([1, 8, 0, 8, 16], [])
>>> found["stride_byte_offset"]["said"]
'stride_byte_offset: 896 of 1024 elements lie 1 to 7 steps of 1024 bytes on'
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import Any

from descriptors.derivation.parts.derivation import Derivation
from descriptors.errors import DescriptorError
from descriptors.explorer.parts.edited import own_word, read_fields
from descriptors.proof.addresses import address_bits, fetched_rows
from descriptors.stages.view import View
from descriptors.text import counted
from descriptors.words.bitfield import Field

#: What an offset is changed by, in bytes: a multiple of every swizzle pattern, which the exclusive-or leaves alone.
MOVED = 1024

#: How often a field counts for each element of a subtile, in the order of its rows; or 1 where it does and has no size.
Counts = list[list[int]]
#: A block of elements of a subtile: the count, first row and column, rows and columns.
Box = list[int]


def concerned(view: View) -> dict[str, Any]:
    """The elements of the chosen subtile that each field of its word concerns.

    Returns:
        For each field ``boxes``, blocks of elements counted from the subtile's first, and ``said``, in a sentence.
    """
    found = _concerned(view.derivation, own_word(view))
    return {name: {"boxes": [list(box) for box in boxes], "said": said} for name, boxes, said in found}


@lru_cache(maxsize=64)
def _concerned(d: Derivation, word: int) -> tuple[tuple[str, tuple[Box, ...], str], ...]:
    found = []
    for field in read_fields(d.arch):
        counts = _counts(d, word, field)
        told = counts if counts is not None else []
        found.append((field.name, tuple(boxes(told)), _said(d, word, field, counts)))
    return tuple(found)


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
    found: Counts | None = None
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
        found = each if found is None else [list(map(max, *rows)) for rows in zip(found, each, strict=True)]
    return found


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


def _said(d: Derivation, word: int, field: Field, counts: Counts | None) -> str:
    if counts is None:
        return f"{field.name}: no other value can be read"
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
