"""Judges of a tile that is derived: its five layouts, where each operand starts, what is read when a start moves.

A tile is (extents, dtype, major, swizzle, mma), as in the judge `word`; the architecture is sm90. Invariant: what the
derivation has is right, and half of it is not.

>>> tile = ((128, 64), "bf16", "K", "128B", (64, 16))
>>> advance("4128", 1, 1, *tile), advance("8224", 1, 1, *tile)
('says 4128, which is not where operand (1, 1) begins', None)

The start of every subtile is the one that is derived, and no other start is taken for it.

>>> tile = ((128, 128), "bf16", "K", "128B", (64, 16))
>>> starts("0, 2, 1024", *tile, [[0, 0], [0, 1], [0, 4]])
>>> starts("0, 32, 1024", *tile, [[0, 0], [0, 1], [0, 4]])
'says 32 for the operand (0, 1): element (0, 0) of it lies at byte 32 and would be read at byte 576'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from descriptors.course.judges.answers import integers_of, words_of
from descriptors.errors import DescriptorError
from descriptors.smem.debug.diff import diff
from descriptors.smem.debug.read import read
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive
from descriptors.smem.operands.operand import MajorName, as_major, as_swizzle_mode
from descriptors.smem.proof.addresses import stored_rows
from descriptors.smem.proof.read_model import Rows
from descriptors.smem.words.descriptor import WINDOW_BYTES
from layoutalg import product


def derived_tile(
    tile: Sequence[int],
    dtype: str,
    major: MajorName,
    swizzle: str,
    mma: Sequence[int],
    order: Sequence[int] | None = None,
) -> Derivation:
    """The derivation of a tile for sm90; an item asks for it once for each of its answers.

    Args:
        tile: MN and K, in elements.
        dtype: type of the elements.
        major: ``K`` or ``MN``.
        swizzle: mode, as ``128B``.
        mma: MN and K that one instruction reads.
        order: stacking order of the atoms.

    Raises:
        DescriptorError: if it cannot be derived.
    """
    return _derivation_of(tuple(tile), dtype, major, swizzle, tuple(mma), None if order is None else tuple(order))


@lru_cache(maxsize=512)
def _derivation_of(
    tile: tuple[int, ...],
    dtype: str,
    major: MajorName,
    swizzle: str,
    mma: tuple[int, ...],
    order: tuple[int, ...] | None,
) -> Derivation:
    return derive(tile, dtype, as_major(major), as_swizzle_mode(swizzle), mma, arch="sm90", order=order)


def starts(answer: str, *question: Any) -> str | None:
    """What is added to the start field, in its units of 16 bytes, for operands (mn, k) of a tile, counted in operands.

    Args:
        answer: a number for each.
        question: tile, type, major, swizzle and operand as ``derive`` takes them, and the coordinates.
    """
    *tile, operands = question
    derivation = derived_tile(*tile)
    for number, at in zip(integers_of(answer, len(operands)), operands, strict=True):
        origin = [one * extent for one, extent in zip(at, derivation.mma, strict=True)]
        moved = _moved(derivation, 16 * number, origin)
        if moved:
            return f"says {number} for the operand {tuple(at)}: {moved}"
    return None


def _stored(derivation: Derivation) -> Rows:
    rows: Rows = stored_rows(derivation.smem_tile, derivation.element, base=0)
    return rows


def _fetched(derivation: Derivation, step: int) -> Rows:
    if not 0 <= step < WINDOW_BYTES or step % 16:
        raise DescriptorError(f"answer: a start must be a multiple of 16 bytes within the window, found {step}")
    word = derivation.descriptor.at(step).encode()
    read_out = read(word, "sm90", dtype=derivation.element, major=derivation.major, shape=derivation.mma)
    return [list(row) for row in read_out.addresses]


def _moved(derivation: Derivation, step: int, origin: Sequence[int]) -> str | None:
    """The first element of the block of the tile that begins at an origin which the moved word reads from elsewhere."""
    rows, (mn, k) = _stored(derivation), derivation.mma
    if not (0 <= origin[0] <= len(rows) - mn and 0 <= origin[1] <= len(rows[0]) - k):
        return f"the tile has no operand of {mn} by {k} that begins at {tuple(origin)}"
    for i, row in enumerate(_fetched(derivation, step)):
        for j, place in enumerate(row):
            right = rows[origin[0] + i][origin[1] + j]
            if place != right:
                return f"element ({i}, {j}) of it lies at byte {right} and would be read at byte {place}"
    return None


def advance(answer: str, i: int, k: int, *tile: Any) -> str | None:
    """How far operand (i, k) begins after the first, in bytes."""
    (mine,), right = integers_of(answer, 1), derived_tile(*tile).offset_of(i, k)
    if mine == right:
        return None
    unit = " (that is the offset in units of 16 bytes)" if mine * 16 == right else ""
    return f"says {answer}, which is not where operand ({i}, {k}) begins{unit}"


def word_of(answer: str, base: int, i: int, k: int, *tile: Any) -> str | None:
    """The word of operand (i, k) of a tile at an address: any that reads its elements from where they lie."""
    derivation = derived_tile(*tile)
    difference = diff(
        words_of(answer)[0],
        derivation.smem_tile,
        "sm90",
        dtype=derivation.element,
        major=derivation.major,
        shape=derivation.mma,
        subtile=(i, k),
        base=base,
    )
    if not difference.differing:
        return None
    wrong = ", ".join(f"{change.field} {change.found}" for change in difference.changes)
    return f"reads {difference.differing} of {product(derivation.mma)} elements from elsewhere; wrong is {wrong}"


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "starts": starts,
    "advance": advance,
    "word of": word_of,
}
