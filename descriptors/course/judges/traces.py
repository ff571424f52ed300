"""Judges of a whole tile that lanes access: the fewest bytes from row to row, and the turns of a trace.

Addresses are bytes. An access is a layout from the lane to an index of the tile, whose layout gives the byte.

Law: what is possible is the fewest.

>>> pitch(str(least_pitch(32, 128, 4)), 32, 128, 4), least_pitch(32, 128, 4)
(None, 132)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from descriptors.course.judges.typed import layout_of
from layoutalg import offset_table, parse_int_tuple, size, wavefronts

#: One access: lanes to indices of the tile, bytes that a lane moves, and the index of the first.
Step = tuple[str, int, int]


def pitch(answer: str, lanes: int, width: int, access_bytes: int) -> str | None:
    """The fewest bytes from row to row with which a column takes no more turns than its bytes need.

    >>> [pitch(mine, 32, 128, 4) for mine in ("132", "128", "140", "130")]
    [None, 'takes 32 turns, must take 1', 'takes 1, but so do fewer bytes', 'must be a multiple of 4, found 130']
    """
    mine = parse_int_tuple(answer.strip())
    if not isinstance(mine, int) or mine % access_bytes:
        return f"must be a multiple of {access_bytes}, found {answer}"
    if mine < width:
        return f"must hold a row of {width} bytes, found {mine}"
    took, need = _column(lanes, mine, access_bytes), -(-lanes * access_bytes // 128)
    if took != need:
        return f"takes {took} turns, must take {need}"
    return f"takes {need}, but so do fewer bytes" if mine > least_pitch(lanes, width, access_bytes) else None


def least_pitch(lanes: int, width: int, access_bytes: int) -> int:
    """The fewest bytes from row to row that free a column: an odd number of pieces always does, so that it is found."""
    need = -(-lanes * access_bytes // 128)
    tried = range(width, width + 128 + access_bytes, access_bytes)
    return next(pitch for pitch in tried if _column(lanes, pitch, access_bytes) == need)


def _column(lanes: int, pitch: int, access_bytes: int) -> int:
    return wavefronts([lane * pitch for lane in range(lanes)], access_bytes)


def counted(answer: str, tile: tuple[int, int], room: int, steps: Sequence[Step]) -> int | str:
    """The turns that a student's layout of a tile takes for all steps; or what is wrong with the layout.

    Args:
        answer: a layout from (row, byte) to the byte address, with a swizzle or without.
        tile: rows, and bytes of a row.
        room: bytes of memory that there are.
        steps: the accesses.

    >>> steps = (("8:1", 16, 0), ("8:128", 16, 0))
    >>> [counted(mine, (8, 128), 1024, steps) for mine in ("(8,128):(128,1)", "S<3,4,3> o 0 o (8,128):(128,1)")]
    [9, 2]
    """
    mine = layout_of(answer)
    rows, width = tile
    sizes = [size(mode) for mode in mine.shape] if isinstance(mine.shape, tuple) else [size(mine)]
    if sizes != [rows, width]:
        return f"has modes of {sizes} elements, must have {[rows, width]}"
    places = offset_table(mine)  # one list a row, whatever is nested within the modes
    flat = [place for row in places for place in row]
    if len(set(flat)) != len(flat):
        return "puts two bytes at one place"
    if min(flat) < 0 or max(flat) >= room:
        return f"needs bytes {min(flat)} to {max(flat)}, must stay in 0 to {room - 1}"
    total = 0
    for access, count, first in steps:
        lanes = layout_of(access)
        starts = [divmod(first + lanes(lane), rows)[::-1] for lane in range(size(lanes))]
        for row, byte in starts:
            held = places[row][byte : byte + count]
            if held[0] % count or held != list(range(held[0], held[0] + count)):
                return f"tears the {count} bytes of an access apart, or does not start them at a multiple of {count}"
        total += wavefronts([places[row][byte] for row, byte in starts], count)
    return total


def trace(answer: str, tile: tuple[int, int], room: int, par: int, *steps: Step) -> str | None:
    """A layout of a tile with which all accesses together take no more turns than the best that is known."""
    found = counted(answer, tile, room, steps)
    if isinstance(found, str):
        return found
    return None if found <= par else f"takes {found} turns; {par} are possible"


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "pitch": pitch,
    "trace": trace,
}
