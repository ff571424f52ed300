"""Judges of accesses to shared memory: how many turns they take.

Law: a swizzle is right if no two lanes of a turn meet in a bank.

>>> conflict_free("S<3,4,3>", "(8,128):(128,1)", "8:1", 16), conflict_free("S<2,4,3>", "(8,128):(128,1)", "8:1", 16)
(None, 'takes 2 turns, must take 1')
"""

from __future__ import annotations

from collections.abc import Callable

from descriptors.lessons.judges.reading import layout_of
from layoutalg import Swizzle, evaluate, size, wavefronts


def conflict_free(answer: str, layout: str, access: str, access_bytes: int) -> str | None:
    """A swizzle of byte addresses with which an access of up to 32 lanes takes as few turns as its bytes need."""
    mine = evaluate(answer)
    if not isinstance(mine, Swizzle):
        return f"must be a swizzle, as S<3,4,3>, found {answer}"
    tile, lanes = layout_of(layout), layout_of(access)
    places = [tile(lanes(lane)) for lane in range(size(lanes))]
    if len({mine(place) for place in range(size(tile))} & set(range(size(tile)))) != size(tile):
        return "moves bytes out of the tile"
    if any(mine(place) % access_bytes for place in places):
        return f"tears the {access_bytes} bytes of an access apart: its lowest bit is too low"
    took = wavefronts([mine(place) for place in places], access_bytes)
    need = -(-len(places) * access_bytes // 128)
    return None if took == need else f"takes {took} turns, must take {need}"


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {"conflict free": conflict_free}
