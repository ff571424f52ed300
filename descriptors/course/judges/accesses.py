"""Judges of accesses to shared memory: which banks, how many turns, how a tile must be stored, and of swizzles.

A turn is what shared memory does at once: each bank serves one word. Invariant: a number is right if no thread
speaks against it.

>>> turns("2", ("(8,8):(8,1)", "8:1", 4, 4)), turns("1", ("(8,8):(8,1)", "8:1", 4, 4))
(None, 'says 1 for access 1, but threads 0 and 4 want different words of bank 0')

Two swizzles are one answer where they send every number of the range to the same.

>>> same_map("S<3,4,3>", "S<3,4,3>", 1024), in_elements("S<3,3,3>", "S<3,4,3>", 2)
(None, None)
>>> image("144", ("S<3,4,3>", 144))
'says 144 for 144: bit 4 of it becomes bit 4 xor bit 7, which is 0'

The padding that is looked for is the least.

>>> pitch(str(least_pitch(32, 128, 4)), 32, 128, 4), least_pitch(32, 128, 4)
(None, 132)
"""

from __future__ import annotations

import re
from collections.abc import Callable

from descriptors.course.judges.answers import integers_of, layout_of, written, written_layout
from descriptors.course.judges.layouts import counts_of, offset_of
from descriptors.errors import DescriptorError
from descriptors.text import counted
from layoutalg import Access, Swizzle, access, evaluate, size, wavefronts

#: A tile in memory, lane to index into it, bytes of an element, bytes that a lane moves.
Asked = tuple[str, str, int, int]
#: Lane to index into a tile, bytes that a lane moves, the turns that are wanted.
Wanted = tuple[str, int, int]


_TRIPLE = re.compile(r"(?:S *)?[<(]? *(-?\d+) *[,; ] *(-?\d+) *[,; ] *(-?\d+) *[>)]?")


def swizzle_of(text: str) -> Swizzle:
    """A swizzle.

    Raises:
        DescriptorError: if it is something else.
        LayoutError: if it cannot be read.

    >>> print(swizzle_of("S<3,4,3>"), swizzle_of("(3, 4, 3)"))
    S<3,4,3> S<3,4,3>
    """
    numbers = _TRIPLE.fullmatch(text.strip(" \t\r\n`.'\""))
    value = evaluate(f"S<{','.join(numbers.groups())}>" if numbers else written(text))
    if not isinstance(value, Swizzle):
        raise DescriptorError(f"answer: it must be a swizzle, as S<3,4,3>, found {text}")
    return value


def banks(answer: str, *addresses: int) -> str | None:
    """The bank of the first word at each byte address."""
    mine = integers_of(answer, len(addresses))
    for said, address in zip(mine, addresses, strict=True):
        if not 0 <= said < 32:
            return f"says bank {said} for address {address}, but the banks are 0 to 31"
        if (said - address // 4) % 32:
            return f"says bank {said} for address {address}, but {address} is no address of that bank"
    return None


def turns(answer: str, *questions: Asked) -> str | None:
    """How many turns each access takes."""
    mine = integers_of(answer, len(questions))
    for number, (said, (tile, lanes, element_bytes, access_bytes)) in enumerate(zip(mine, questions, strict=True), 1):
        served = access(addresses_of(tile, lanes, element_bytes), access_bytes)
        if said != served.wavefronts:
            return f"says {said} for access {number}, but {_why_not(said, served, access_bytes)}"
    return None


def addresses_of(tile: str, lanes: str, element_bytes: int) -> list[int]:
    """The byte address of each lane.

    >>> addresses_of("(8,8):(8,1)", "8:1", 4)
    [0, 32, 64, 96, 128, 160, 192, 224]
    """
    stored, which = layout_of(tile), layout_of(lanes)
    return [element_bytes * stored(which(lane)) for lane in range(size(which))]


def _why_not(said: int, cost: Access, access_bytes: int) -> str:
    """What speaks against a number of turns: lanes that meet, or lanes that do not."""
    phases = len(cost.phases)
    if said < 1:
        return "something is moved, so that there is a turn"
    if said < phases:
        return f"a turn moves at most 128 bytes, and {len(cost.addresses)} threads move {access_bytes} each"
    if said > cost.wavefronts:
        return _apart(cost, access_bytes)
    worst = max(range(phases), key=lambda phase: cost.phase_wavefronts[phase])
    served: dict[int, dict[int, int]] = {}
    for lane in cost.phases[worst]:
        for word in _words(cost.addresses[lane], access_bytes):
            served.setdefault(word % 32, {}).setdefault(word, lane)
    bank = max(served, key=lambda one: len(served[one]))
    lanes = sorted(served[bank].values())[: said // phases + 1]
    return f"threads {', '.join(map(str, lanes[:-1]))} and {lanes[-1]} want different words of bank {bank}"


def _apart(served: Access, access_bytes: int) -> str:
    """Two lanes of one phase that are served together."""
    lanes = len(served.addresses)
    for phase in served.phases:
        for one in phase:
            for other in range(one + 1, phase[-1] + 1):
                mine, its = (set(_words(served.addresses[lane], access_bytes)) for lane in (one, other))
                if mine == its:
                    return f"threads {one} and {other} want the same word, which is read once for both"
                if not {word % 32 for word in mine} & {word % 32 for word in its}:
                    return f"threads {one} and {other} begin in banks {min(mine) % 32} and {min(its) % 32}, at once"
    return f"there are {lanes} threads, and each needs one turn at most"


def _words(address: int | None, access_bytes: int) -> range:
    return range(0) if address is None else range(address // 4, (address + access_bytes - 1) // 4 + 1)


def stored(answer: str, shape: tuple[int, int], element_bytes: int, places: int, *goals: Wanted) -> str | None:
    """A tile in memory, padded or swizzled, whose accesses take the turns that are wanted.

    Args:
        answer: the tile: coordinate to place.
        shape: rows and columns.
        element_bytes: bytes of an element.
        places: the most elements of memory that it may take.
        goals: lanes, bytes of a lane, and turns of each access.
    """
    mine = written_layout(answer)
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
    for number, (lanes, access_bytes, want) in enumerate(goals, 1):
        addresses = addresses_of(str(mine), lanes, element_bytes)
        torn = _torn(str(mine), lanes, element_bytes, access_bytes)
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


def image(answer: str, *questions: tuple[str, int]) -> str | None:
    """Where swizzles send numbers: one of each pair."""
    mine = integers_of(answer, len(questions))
    for said, (name, number) in zip(mine, questions, strict=True):
        swizzle = swizzle_of(name)
        differ = said ^ swizzle(number)
        if said < 0 or differ:
            return f"says {said} for {number}: {_bit(swizzle, number, (differ & -differ).bit_length() - 1)}"
    return None


def _bit(swizzle: Swizzle, number: int, place: int) -> str:
    """What one bit of a swizzled number is."""
    if swizzle.target_mask >> place & 1:
        source = place + swizzle.shift
        return f"bit {place} of it becomes bit {place} xor bit {source}, which is {swizzle(number) >> place & 1}"
    return f"bit {place} of it stays as it is, {number >> place & 1}"


def same_map(answer: str, pattern: str, count: int) -> str | None:
    """A swizzle that sends every number below a count where another does."""
    mine, right = swizzle_of(answer), swizzle_of(pattern)
    for number in range(count):
        if mine(number) != right(number):
            return f"sends {number} to {mine(number)}, must send it to {right(number)}"
    return None


def in_elements(answer: str, on_bytes: str, element_bytes: int) -> str | None:
    """A swizzle of element numbers that moves the bytes as one of byte addresses does."""
    mine, right = swizzle_of(answer), swizzle_of(on_bytes)
    for number in range(1 << 14):
        byte, landed = element_bytes * number, element_bytes * mine(number)
        if landed != right(byte):
            return f"sends element {number}, which is byte {byte}, to byte {landed}, must send it to byte {right(byte)}"
    return None


def pitch(answer: str, lanes: int, width: int, access_bytes: int) -> str | None:
    """The fewest bytes from row to row with which a column takes no more turns than its bytes need.

    >>> [pitch(mine, 32, 128, 4) for mine in ("132", "128", "140", "130")]
    [None, 'takes 32 turns, must take 1', 'takes 1, but so do fewer bytes', 'must be a multiple of 4, found 130']
    """
    (mine,) = integers_of(answer, 1)
    if mine % access_bytes:
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


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "banks": banks,
    "turns": turns,
    "stored": stored,
    "image": image,
    "same map": same_map,
    "in elements": in_elements,
    "pitch": pitch,
}
