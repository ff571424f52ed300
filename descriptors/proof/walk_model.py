"""The walk of the read model over an operand: its numbers, checked and named, and its addresses in plain Python.

The walk itself is that of :mod:`descriptors.proof.read_model`, which says what it is and how it is known, and computes
it by arrays; here its numbers are checked and named, and for an operand or two the sums are done as they stand.
Law: element by element the rows are what ``read_addresses`` returns, or ``read_bit_addresses``.

>>> word = 1 << 62 | 64 << 32 | 1 << 16 | 0x400 >> 4
>>> rows = read_rows([word], "sm90", dtype="bf16", major="K", shape=(64, 16))[0]
>>> [hex(row[0]) for row in rows[:3]]
['0x400', '0x490', '0x520']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from descriptors.errors import DescriptorError, as_integer
from descriptors.proof.word_model import Pattern, arch_named, check_absolute, common_fields, named

Rows = list[list[int]]

# Bits that an element takes up in its 16 bytes, and bits between the starts of two elements there. They differ where
# 16 narrow elements sit at the front of a 16-byte container.
_ELEMENTS = {
    "f16": (16, 16),
    "bf16": (16, 16),
    "tf32": (32, 32),
    "e4m3": (8, 8),
    "e5m2": (8, 8),
    "s8": (8, 8),
    "u8": (8, 8),
    "e2m3": (8, 6),
    "e3m2": (8, 6),
    "e2m1_unpacksmem": (8, 4),
    "e2m1": (4, 4),
}

#: Bytes of a line, within which K lies unless LBO is absolute.
_LINE = 128
_MOST_ROWS, _MOST_ELEMENTS = 1 << 16, 1 << 28
_FARTHEST = 1 << 28  # so that bit addresses fit 32 bits


class Walk(NamedTuple):
    """A walk over an operand, checked, before any address of it is computed.

    An element has an index ``i`` along the contiguous dimension and a row ``r`` across it. Law: with
    ``b = i*storage//8`` its offset is ``b%piece + b//piece*piece_step + r%rows*pattern.span + r//rows*group_step``.

    Args:
        starts: the start address of each word.
        lines: its LBO where that is an address, for each word; empty where it is a step.
        several: whether there are several words, so that the result has an axis of them.
        k_major: whether K is the contiguous dimension.
        length, height: extents along the contiguous dimension and across it.
        storage, step: bits of an element, and between two elements within 16 bytes.
        piece, piece_step: bytes of a piece, and from one to the next.
        rows, group_step: rows of a group, and bytes from one to the next.
        base: the base offset.
        pattern: the swizzle.
    """

    starts: Sequence[int]
    lines: Sequence[int]
    several: bool
    k_major: bool
    length: int
    height: int
    storage: int
    step: int
    piece: int
    piece_step: int
    rows: int
    group_step: int
    base: int
    pattern: Pattern

    def begins(self, word: int, b: int) -> int:
        """Where the offsets of a word are counted from at byte b of a row: its start, or the line that LBO names.

        The byte that begins the other line is as many bytes of K on as the first line has left.
        """
        start = self.starts[word]
        if not self.lines or start % _LINE + b < _LINE:
            return start
        return self.lines[word] + start % _LINE - _LINE


def walk(word: int | Sequence[int], arch: str, dtype: object, major: object, shape: object) -> Walk:
    """The walk that one word describes, or several.

    Args:
        word, arch, dtype, major, shape: as for :func:`read_addresses`, whose errors these are too.

    >>> found = walk(1 << 62 | 64 << 32 | 1 << 16, "sm90", "bf16", "K", (64, 16))
    >>> found.piece_step, found.group_step, found.pattern.span
    (16, 1024, 128)
    """
    arch, name, major_name = names(arch, dtype, major)
    mn, k = _extents(shape)
    several = isinstance(word, (tuple, list))
    words: Sequence[int] = word if isinstance(word, (tuple, list)) else (word,)
    starts, lines, (leading, stride, base, pattern) = common_fields(words, arch)
    storage, step = _ELEMENTS[name]
    if lines:
        check_absolute(words[0], major_name, pattern, base, lines, k * storage)
    # Along the contiguous dimension b counts bytes in pieces; across it, rows come in groups.
    if major_name == "K":
        length, height, piece, rows = k, mn, 16, 8
        piece_step, group_step = (16 if pattern.bits else leading), stride
    else:
        length, height, piece, rows = mn, k, pattern.span, pattern.rows
        piece_step, group_step = (leading, stride) if pattern.bits else (stride, leading)
    reach = max(*starts, *lines, 0) + (length * storage - 1) // 8 // piece * piece_step
    reach += (height - 1) // rows * group_step
    if reach > _FARTHEST:
        shown = f"{words[0]:#018x}" + (f" and {len(starts) - 1} more" if len(starts) > 1 else "")
        raise DescriptorError(f"read_addresses: a walk must end below {_FARTHEST:#x}, reaches {reach:#x}; {shown}")
    return Walk(
        starts, lines, several, major_name == "K", length, height, storage, step, piece, piece_step, rows, group_step,
        base, pattern,
    )  # fmt: skip


def names(arch: object, dtype: object, major: object) -> tuple[str, str, str]:
    """The architecture, the type and the dimension that these name.

    Raises:
        ChoiceError: if one names none.
    """
    return arch_named(arch), named("dtype", dtype, _ELEMENTS), named("major", major, ("K", "MN"))


def read_rows(
    words: Sequence[int], arch: str = "sm100", *, dtype: object, major: object, shape: tuple[int, int],
    in_bits: bool = False,
) -> list[Rows]:  # fmt: skip
    """The address of every element of the operand of each word: ``rows[word][mn][k]``.

    Args:
        words: descriptors that differ in addresses alone.
        arch, dtype, major, shape: as for ``read_model.read_addresses``, whose errors these are too.
        in_bits: addresses of the lowest bits, not of the bytes.

    >>> read_rows([1 << 62, 1 << 62 | 2], "sm90", dtype="bf16", major="K", shape=(8, 16))[1][1][:3]
    [176, 178, 180]
    """
    walked = walk(list(words), arch, dtype, major, shape)
    across = [
        r % walked.rows * walked.pattern.span + r // walked.rows * walked.group_step for r in range(walked.height)
    ]
    read = []
    for number in range(len(walked.starts)):
        lines = _lines(walked, number, across)
        if in_bits:
            lines = [_bits(walked, line) for line in lines]
        read.append(lines if walked.k_major else [list(column) for column in zip(*lines, strict=True)])
    return read


def _lines(w: Walk, word: int, across: Sequence[int]) -> Rows:
    """The addresses along the contiguous dimension, one list for each row across it."""
    at = [i * w.storage // 8 for i in range(w.length)]
    along = [b % w.piece + b // w.piece * w.piece_step + w.begins(word, b) for b in at]
    if not w.pattern.bits:
        return [[place + row for place in along] for row in across]
    mask, position, base = (1 << w.pattern.bits) - 1, w.pattern.position, w.base
    lines = []
    for row in across:
        sums = [place + row for place in along]
        lines.append([one ^ (((one >> 7) - base & mask) << position) for one in sums])
    return lines


def _bits(w: Walk, line: Sequence[int]) -> list[int]:
    per_container = 128 // w.storage
    return [(one & ~15) * 8 + i % per_container * w.step for i, one in enumerate(line)]


def _extents(shape: object) -> tuple[int, int]:
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise DescriptorError("read_addresses: shape must be two extents (MN, K)")
    mn, k = (as_integer(extent, "read_addresses: an extent", minimum=1, maximum=_MOST_ROWS) for extent in shape)
    if mn * k > _MOST_ELEMENTS:
        raise DescriptorError(f"read_addresses: the shape must have at most {_MOST_ELEMENTS} elements, found {mn * k}")
    return mn, k
