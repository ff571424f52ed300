"""Judges of start addresses: which elements a word reads when its start moves, what one word tells, what one box fills.

Law: the start of every subtile is the one that is derived, and no other start is taken for it.

>>> tile = ((128, 128), "bf16", "K", "128B", (64, 16))
>>> starts("0, 2, 1024", *tile, [[0, 0], [0, 1], [0, 4]])
>>> starts("0, 32, 1024", *tile, [[0, 0], [0, 1], [0, 4]])
'says 32 for the operand (0, 1): element (0, 0) of it lies at byte 32 and would be read at byte 576'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from descriptors.course.judges.tile import derived_tile
from descriptors.course.judges.typed import integers_of, parts_of, words_of
from descriptors.errors import DescriptorError
from descriptors.smem.debug.read import read
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.match import match
from descriptors.smem.operands.operand import MajorName
from descriptors.smem.proof.addresses import stored_rows
from descriptors.smem.proof.read_model import Rows
from descriptors.smem.words.bitfield import WINDOW_BYTES
from descriptors.smem.words.descriptor import WORDS, architecture


def starts(answer: str, *asked: Any) -> str | None:
    """What is added to the start field, in its units of 16 bytes, for operands (mn, k) of a tile, counted in operands.

    Args:
        answer: a number for each.
        asked: tile, type, major, swizzle and operand as ``derive`` takes them, and the coordinates.
    """
    *tile, operands = asked
    derived = derived_tile(*tile)
    for number, at in zip(integers_of(answer, len(operands)), operands, strict=True):
        origin = [one * extent for one, extent in zip(at, derived.mma, strict=True)]
        moved = _moved(derived, 16 * number, origin)
        if moved:
            return f"says {number} for the operand {tuple(at)}: {moved}"
    return None


def firsts(answer: str, *asked: Any) -> str | None:
    """The first elements (mn, k) of what a word reads with so many bytes added to its start, as pairs of numbers."""
    *tile, added = asked
    derived, numbers = derived_tile(*tile), integers_of(answer, 2 * len(added))
    for count, step in enumerate(added):
        at = numbers[2 * count : 2 * count + 2]
        moved = _moved(derived, step, at)
        if moved:
            return f"says {at} for + {step} bytes: {moved}"
    return None


def blocks(answer: str, *asked: Any) -> str | None:
    """Yes or no for each number of bytes added to the start: whether elements of the tile are read, in their order.

    Yes means that there is a first element with which the operand is a block of the tile.
    """
    *tile, added = asked
    derived = derived_tile(*tile)
    rows = _stored(derived)
    for said, step in zip(_decided(answer, len(added)), added, strict=True):
        mn, k = derived.mma
        fetched = _fetched(derived, step)
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
    found = read(words_of(number)[0], arch, dtype=dtype, major=major, shape=(shape[0], shape[1])).addresses
    for said, (mn, k) in zip(integers_of(answer, len(at)), at, strict=True):
        if said != found[mn][k]:
            mode = WORDS[architecture(arch)].decode(words_of(number)[0])["swizzle"]
            plain = mode.swizzle(found[mn][k]) if mode.swizzle else None  # an exclusive or undoes itself
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


def box_rows(answer: str, *asked: Any) -> str | None:
    """For each order of stacking: how many rows of one swizzle span the largest box can fill.

    A box lands row after row without gaps, and has at most 256 rows.
    """
    tile, dtype, major, swizzle, mma, orders = asked
    for said, order in zip(integers_of(answer, len(orders)), orders, strict=True):
        derived = derived_tile(tile, dtype, major, swizzle, mma, order)
        span = derived.swizzle.span_bytes
        filled = next((i for i, row in enumerate(_stored(derived)) if row[0] // span != i), min(256, derived.tile[0]))
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


def _stored(derived: Derivation) -> Rows:
    rows: Rows = stored_rows(derived.smem_tile, derived.element, base=0)
    return rows


def _fetched(derived: Derivation, step: int) -> Rows:
    if not 0 <= step < WINDOW_BYTES or step % 16:
        raise DescriptorError(f"answer: a start must be a multiple of 16 bytes within the window, found {step}")
    word = derived.descriptor.at(step).encode()
    told = read(word, "sm90", dtype=derived.element, major=derived.major, shape=derived.mma)
    return [list(row) for row in told.addresses]


def _moved(derived: Derivation, step: int, origin: Sequence[int]) -> str | None:
    """The first element of the block of the tile that begins at an origin which the moved word reads from elsewhere."""
    rows, (mn, k) = _stored(derived), derived.mma
    if not (0 <= origin[0] <= len(rows) - mn and 0 <= origin[1] <= len(rows[0]) - k):
        return f"the tile has no operand of {mn} by {k} that begins at {tuple(origin)}"
    for i, row in enumerate(_fetched(derived, step)):
        for j, found in enumerate(row):
            right = rows[origin[0] + i][origin[1] + j]
            if found != right:
                return f"element ({i}, {j}) of it lies at byte {right} and would be read at byte {found}"
    return None


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "starts": starts,
    "firsts": firsts,
    "blocks": blocks,
    "read at": read_at,
    "one word": one_word,
    "box rows": box_rows,
}
