"""The read model evaluated in plain Python: rows of addresses, for an operand or two, and where there is no numpy.

The walk is that of :mod:`descriptors.proof.read_model`, which says what it is and how it is known; only the sums are done
here without arrays. Law: element by element the rows are what ``read_addresses`` returns, or ``read_bit_addresses``.

>>> from descriptors.proof.read_model import read_addresses
>>> word = 1 << 62 | 64 << 32 | 1 << 16 | 0x400 >> 4
>>> told = {"arch": "sm90", "dtype": "bf16", "major": "K", "shape": (64, 16)}
>>> read_rows([word], **told) == [read_addresses(word, **told).tolist()]
True
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.proof.read_model import Walk, walk

Rows = list[list[int]]


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
    across = [r % walked.rows * walked.pattern.span + r // walked.rows * walked.group_step for r in range(walked.height)]
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
