"""Judges of a tile that is derived: its five layouts, where each operand starts, what is read when a start moves.

A tile is (extents, dtype, major, swizzle, mma), as in the judge `word`; the architecture is sm90. Law: what the
derivation has at each step is right at that step.

>>> tile = ((128, 64), "bf16", "K", "128B", (64, 16))
>>> [stage(str(plain(getattr(derived_tile(*tile), name))), name, *tile) for name in STAGES]
[None, None, None, None, None]
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

from descriptors.course.judges.answers import integers_of, layout_of, parts_of, words_of
from descriptors.errors import DescriptorError
from descriptors.smem.debug.diff import diff
from descriptors.smem.debug.read import read
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive
from descriptors.smem.operands.match import match
from descriptors.smem.operands.operand import MajorName, as_major, as_swizzle_mode
from descriptors.smem.operands.swizzled import plain
from descriptors.smem.proof.addresses import stored_rows
from descriptors.smem.proof.read_model import Rows
from descriptors.smem.words.descriptor import WINDOW_BYTES, architecture, smem_word
from layoutalg import coalesce, parse_int_tuple, product, size


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


def firsts(answer: str, *question: Any) -> str | None:
    """The first elements (mn, k) of what a word reads with so many bytes added to its start, as pairs of numbers."""
    *tile, added = question
    derivation, numbers = derived_tile(*tile), integers_of(answer, 2 * len(added))
    for count, step in enumerate(added):
        at = numbers[2 * count : 2 * count + 2]
        moved = _moved(derivation, step, at)
        if moved:
            return f"says {at} for + {step} bytes: {moved}"
    return None


def blocks(answer: str, *question: Any) -> str | None:
    """Yes or no for each number of bytes added to the start: whether elements of the tile are read, in their order.

    Yes means that there is a first element with which the operand is a block of the tile.
    """
    *tile, added = question
    derivation = derived_tile(*tile)
    rows = _stored(derivation)
    for said, step in zip(_decided(answer, len(added)), added, strict=True):
        mn, k = derivation.mma
        fetched = _fetched(derivation, step)
        places = [(i, j) for i in range(len(rows) - mn + 1) for j in range(len(rows[0]) - k + 1)]
        is_block = any([row[j : j + k] for row in rows[i : i + mn]] == fetched for i, j in places)
        if said != is_block:
            return f"says {'yes' if said else 'no'} for + {step} bytes"
    return None


def read_at(
    answer: str, number: str, arch: Any, dtype: str, major: MajorName, at: Sequence[Sequence[int]]
) -> str | None:
    """The byte addresses at which a word makes the tensor core read some elements (mn, k)."""
    shape = tuple(max(8, *(one[axis] + 1 for one in at)) for axis in (0, 1))
    addresses = read(words_of(number)[0], arch, dtype=dtype, major=major, shape=(shape[0], shape[1])).addresses
    for said, (mn, k) in zip(integers_of(answer, len(at)), at, strict=True):
        if said != addresses[mn][k]:
            mode = smem_word(architecture(arch)).decode(words_of(number)[0])["swizzle"]
            plain = mode.swizzle(addresses[mn][k]) if mode.swizzle else None  # an exclusive or undoes itself
            why = ", which is its address before the swizzle" if said == plain else ""
            return f"says {said} for element ({mn}, {k})" + why
    return None


def one_word(answer: str, dtype: str, *layouts: str) -> str | None:
    """Yes or no for each layout: whether one word can tell the whole of it."""
    for said, layout in zip(_decided(answer, len(layouts)), layouts, strict=True):
        try:
            match(layout, dtype)
            can = True
        except DescriptorError:
            can = False
        if said != can:
            return f"says {'yes' if said else 'no'} for {layout}"
    return None


def box_rows(answer: str, *question: Any) -> str | None:
    """For each order of stacking: how many rows of one swizzle span the largest box can fill.

    A box of rank 2 that is as wide as the span lands row after row without gaps, and has at most 256 rows.
    """
    tile, dtype, major, swizzle, mma, orders = question
    for said, order in zip(integers_of(answer, len(orders)), orders, strict=True):
        derivation = derived_tile(tile, dtype, major, swizzle, mma, order)
        span = derivation.swizzle.span_bytes
        filled = next(
            (i for i, row in enumerate(_stored(derivation)) if row[0] // span != i), min(256, derivation.tile[0])
        )
        if said > filled:
            return f"says {said} for the order {tuple(order)}: row {filled} does not lie behind row {filled - 1}"
        if said < filled:
            return f"says {said} for the order {tuple(order)}: row {said} lies behind row {said - 1} as well"
    return None


def _decided(answer: str, count: int) -> list[bool]:
    said = parts_of(answer)
    strange = [one for one in said if one not in ("yes", "no")]
    if strange or len(said) != count:
        raise DescriptorError(f"answer: it must be {count} times yes or no, found {answer[:40]!r}")
    return [one == "yes" for one in said]


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


#: The five layouts of a derivation, in their order.
STAGES = ("smem_tile", "partitioned", "recast", "canonical", "advance")


def stage(answer: str, name: str, *tile: Any) -> str | None:
    """One of the five layouts, without its swizzle: the same modes, however they are split, and the same offsets."""
    mine, right = plain(layout_of(answer)), plain(getattr(derived_tile(*tile), name))
    counts = [_counts(one.shape, 2 if name == "canonical" else 1) for one in (mine, right)]
    if counts[0] != counts[1]:
        return f"has modes of {counts[0]} elements, must have {counts[1]}"
    if coalesce(mine) == coalesce(right):  # one function has one shortest form; a tile has many elements
        return None
    for index in range(size(right)):
        if mine(index) != right(index):
            return f"is {mine(index)} at index {index}, must be {right(index)}"
    return None


def _counts(shape: Any, deep: int) -> Any:
    if not deep or not isinstance(shape, tuple):
        return size(shape)
    return [_counts(mode, deep - 1) for mode in shape]


def advance(answer: str, i: int, k: int, *tile: Any) -> str | None:
    """How far operand (i, k) begins after the first, in bytes."""
    mine, right = parse_int_tuple(answer.strip()), derived_tile(*tile).offset_of(i, k)
    if mine == right:
        return None
    unit = " (that is the offset in units of 16 bytes)" if isinstance(mine, int) and mine * 16 == right else ""
    return f"says {answer}, which is not where operand ({i}, {k}) begins{unit}"


def word_of(answer: str, base: int, i: int, k: int, *tile: Any) -> str | None:
    """The word of operand (i, k) of a tile at an address: any that reads its elements from where they lie."""
    derivation = derived_tile(*tile)
    try:
        number = int(answer.strip(), 0)
    except ValueError as error:
        raise DescriptorError(f"course: a word must be a number, as 0x4000004000010000, found {answer}") from error
    if not 0 <= number < 1 << 64:
        raise DescriptorError(f"course: a word must have 64 bits, found {answer}")
    difference = diff(
        number,
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
    "firsts": firsts,
    "blocks": blocks,
    "read at": read_at,
    "one word": one_word,
    "box rows": box_rows,
    "stage": stage,
    "advance": advance,
    "word of": word_of,
}
