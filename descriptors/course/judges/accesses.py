"""Judges of accesses to shared memory: which banks, how many turns, and how a tile must be stored.

A turn is what shared memory does at once: each bank serves one word. Law: a swizzle is right if no two lanes of a turn
meet in a bank, and so is whatever else makes the access as quick.

>>> conflict_free("S<3,4,3>", "(8,128):(128,1)", "8:1", 16), conflict_free("S<2,4,3>", "(8,128):(128,1)", "8:1", 16)
(None, 'takes 2 turns, must take 1')
>>> turns("2", ("(8,8):(8,1)", "8:1", 4, 4)), turns("1", ("(8,8):(8,1)", "8:1", 4, 4))
(None, 'says 1 for access 1, but threads 0 and 4 want different words of bank 0')
"""

from __future__ import annotations

from collections.abc import Callable

from descriptors.course.judges.layouts import counts_of, offset_of
from descriptors.course.judges.typed import integers_of, layout_of
from descriptors.errors import DescriptorError
from descriptors.text import counted
from layoutalg import Access, Swizzle, access, evaluate, size, wavefronts

#: A tile in memory, lane to index into it, bytes of an element, bytes that a lane moves.
Asked = tuple[str, str, int, int]
#: Lane to index into a tile, bytes that a lane moves, the turns that are wanted.
Wanted = tuple[str, int, int]


def swizzle_of(text: str) -> Swizzle:
    """A swizzle.

    Raises:
        DescriptorError: if it is something else.
        LayoutError: if it cannot be read.

    >>> print(swizzle_of("S<3,4,3>"))
    S<3,4,3>
    """
    value = evaluate(text)
    if not isinstance(value, Swizzle):
        raise DescriptorError(f"answer: it must be a swizzle, as S<3,4,3>, found {text}")
    return value


def conflict_free(answer: str, layout: str, access: str, access_bytes: int) -> str | None:
    """A swizzle of byte addresses with which an access of up to 32 lanes takes as few turns as its bytes need."""
    mine = swizzle_of(answer)
    tile, lanes = layout_of(layout), layout_of(access)
    places = [tile(lanes(lane)) for lane in range(size(lanes))]
    if len({mine(place) for place in range(size(tile))} & set(range(size(tile)))) != size(tile):
        return "moves bytes out of the tile"
    if any(mine(place) % access_bytes for place in places):
        return f"tears the {access_bytes} bytes of an access apart: its lowest bit is too low"
    took = wavefronts([mine(place) for place in places], access_bytes)
    need = -(-len(places) * access_bytes // 128)
    return None if took == need else f"takes {took} turns, must take {need}"


def banks(answer: str, *addresses: int) -> str | None:
    """The bank of the first word at each byte address."""
    mine = integers_of(answer, len(addresses))
    for said, address in zip(mine, addresses, strict=True):
        if not 0 <= said < 32:
            return f"says bank {said} for address {address}, but the banks are 0 to 31"
        if (said - address // 4) % 32:
            return f"says bank {said} for address {address}, but {address} is no address of that bank"
    return None


def turns(answer: str, *asked: Asked) -> str | None:
    """How many turns each access takes."""
    mine = integers_of(answer, len(asked))
    for number, (said, (tile, lanes, element_bytes, access_bytes)) in enumerate(zip(mine, asked, strict=True), 1):
        found = access(addresses_of(tile, lanes, element_bytes), access_bytes)
        if said != found.wavefronts:
            return f"says {said} for access {number}, but {_why_not(said, found, access_bytes)}"
    return None


def addresses_of(tile: str, lanes: str, element_bytes: int) -> list[int]:
    """The byte address of each lane.

    >>> addresses_of("(8,8):(8,1)", "8:1", 4)
    [0, 32, 64, 96, 128, 160, 192, 224]
    """
    stored, which = layout_of(tile), layout_of(lanes)
    return [element_bytes * stored(which(lane)) for lane in range(size(which))]


def _why_not(said: int, found: Access, access_bytes: int) -> str:
    """What speaks against a number of turns: lanes that meet, or lanes that do not."""
    phases = len(found.phases)
    if said < phases:
        return f"a turn moves at most 128 bytes, and {len(found.addresses)} threads move {access_bytes} each"
    if said > found.wavefronts:
        return _apart(found, access_bytes)
    worst = max(range(phases), key=lambda phase: found.phase_wavefronts[phase])
    served: dict[int, dict[int, int]] = {}
    for lane in found.phases[worst]:
        for word in _words(found.addresses[lane], access_bytes):
            served.setdefault(word % 32, {}).setdefault(word, lane)
    bank = max(served, key=lambda one: len(served[one]))
    lanes = sorted(served[bank].values())[: said // phases + 1]
    return f"threads {', '.join(map(str, lanes[:-1]))} and {lanes[-1]} want different words of bank {bank}"


def _apart(found: Access, access_bytes: int) -> str:
    """Two lanes of one phase that are served together."""
    lanes = len(found.addresses)
    for phase in found.phases:
        for one in phase:
            for other in range(one + 1, phase[-1] + 1):
                mine, its = (set(_words(found.addresses[lane], access_bytes)) for lane in (one, other))
                if mine == its:
                    return f"threads {one} and {other} want the same word, which is read once for both"
                if not {word % 32 for word in mine} & {word % 32 for word in its}:
                    return f"threads {one} and {other} begin in banks {min(mine) % 32} and {min(its) % 32}, at once"
    return f"there are {lanes} threads, and each needs one turn at most"


def _words(address: int | None, access_bytes: int) -> range:
    return range(0) if address is None else range(address // 4, (address + access_bytes - 1) // 4 + 1)


def ranks(answer: str, tile: str, lanes: str, element_bytes: int, access_bytes: int) -> str | None:
    """The ranks over GF(2) of an access of one phase: of all bits of its words, and of those that are the bank."""
    mine = integers_of(answer, 2)
    words = {word for one in addresses_of(tile, lanes, element_bytes) for word in _words(one, access_bytes)}
    for said, what, found in zip(mine, ("words", "banks"), (words, {word % 32 for word in words}), strict=True):
        if said < 0 or said > 30 or 1 << said != len(found):
            return f"says {said}, but {2 ** max(0, min(said, 30))} is not the number of different {what}"
    return None


def stored(answer: str, shape: tuple[int, int], element_bytes: int, places: int, *wanted: Wanted) -> str | None:
    """A tile in memory, padded or swizzled, whose accesses take the turns that are wanted.

    Args:
        answer: the tile: coordinate to place.
        shape: rows and columns.
        element_bytes: bytes of an element.
        places: the most elements of memory that it may take.
        wanted: lanes, bytes of a lane, and turns of each access.
    """
    mine = layout_of(answer)
    if counts_of(mine) != tuple(shape):
        return f"has modes of {list(counts_of(mine))} elements, must have {list(shape)}"
    seen: dict[int, int] = {}
    for index in range(size(mine)):
        place = offset_of(mine, index)
        if place in seen:
            one, other = (_crd(at, shape) for at in (seen[place], index))
            return f"puts the elements {one} and {other} at one place, {place}"
        seen[place] = index
    took = max(seen) - min(seen) + 1  # of a swizzled layout, cosize asks numpy, which a page in a browser has not
    if took > places:
        return f"takes {took} places, must take at most {places}"
    for number, (lanes, access_bytes, want) in enumerate(wanted, 1):
        addresses = addresses_of(answer, lanes, element_bytes)
        torn = _torn(answer, lanes, element_bytes, access_bytes)
        if torn:
            return torn
        took = wavefronts(addresses, access_bytes)
        if took != want:
            return f"takes {counted(took, 'turn')} for access {number}, must take {want}"
    return None


def _torn(tile: str, lanes: str, element_bytes: int, access_bytes: int) -> str | None:
    """The first lane whose bytes do not lie together, or begin where no access may; along a row they must lie."""
    mine, which = layout_of(tile), layout_of(lanes)
    rows = counts_of(mine)[0]
    for lane in range(size(which)):
        first = which(lane)
        at = [element_bytes * mine(first + k * rows) for k in range(access_bytes // element_bytes)]
        if at[0] % access_bytes:
            return f"lets thread {lane} begin at byte {at[0]}, no multiple of its {access_bytes}"
        if at != list(range(at[0], at[0] + access_bytes, element_bytes)):
            return f"tears the {access_bytes} bytes of thread {lane} apart"
    return None


def _crd(index: int, shape: tuple[int, int]) -> tuple[int, int]:
    return index % shape[0], index // shape[0]


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "conflict free": conflict_free,
    "banks": banks,
    "turns": turns,
    "ranks": ranks,
    "stored": stored,
}
