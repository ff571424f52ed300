"""Judges of accesses to shared memory: which banks, how many turns, how a tile must be stored, and of swizzles.

A turn is what shared memory does at once: each bank serves one word. Law: a swizzle is right if no two lanes of a turn
meet in a bank, and so is whatever else makes the access as quick.

>>> conflict_free("S<3,4,3>", "(8,128):(128,1)", "8:1", 16), conflict_free("S<2,4,3>", "(8,128):(128,1)", "8:1", 16)
(None, 'takes 2 turns, must take 1')
>>> turns("2", ("(8,8):(8,1)", "8:1", 4, 4)), turns("1", ("(8,8):(8,1)", "8:1", 4, 4))
(None, 'says 1 for access 1, but threads 0 and 4 want different words of bank 0')

Two swizzles are one answer where they send every number of the range to the same.

>>> same_map("S<3,4,3>", "S<3,4,3>", 1024), in_elements("S<3,3,3>", "S<3,4,3>", 2)
(None, None)
>>> image("144", ("S<3,4,3>", 144))
'says 144 for 144: bit 4 of it becomes bit 4 xor bit 7, which is 0'

A tile of traces is stored in rows of bytes: an access is a layout from the lane to an index of the tile, whose layout
gives the byte. What is possible is the fewest.

>>> pitch(str(least_pitch(32, 128, 4)), 32, 128, 4), least_pitch(32, 128, 4)
(None, 132)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from descriptors.course.judges.answers import integers_of, layout_of
from descriptors.course.judges.layouts import counts_of, offset_of
from descriptors.errors import DescriptorError
from descriptors.text import counted
from layoutalg import Access, Swizzle, access, cosize, evaluate, offset_table, parse_int_tuple, size, wavefronts

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


def ranks(answer: str, tile: str, lanes: str, element_bytes: int, access_bytes: int) -> str | None:
    """The ranks over GF(2) of an access of one phase: of all bits of its words, and of those that are the bank."""
    mine = integers_of(answer, 2)
    words = {word for one in addresses_of(tile, lanes, element_bytes) for word in _words(one, access_bytes)}
    for said, what, values in zip(mine, ("words", "banks"), (words, {word % 32 for word in words}), strict=True):
        if said < 0 or said > 30 or 1 << said != len(values):
            return f"says {said}, but {2 ** max(0, min(said, 30))} is not the number of different {what}"
    return None


def stored(answer: str, shape: tuple[int, int], element_bytes: int, places: int, *goals: Wanted) -> str | None:
    """A tile in memory, padded or swizzled, whose accesses take the turns that are wanted.

    Args:
        answer: the tile: coordinate to place.
        shape: rows and columns.
        element_bytes: bytes of an element.
        places: the most elements of memory that it may take.
        goals: lanes, bytes of a lane, and turns of each access.
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
    for number, (lanes, access_bytes, want) in enumerate(goals, 1):
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


#: Lane to index into a tile, and the bytes that a lane moves.
Lanes = tuple[str, int]
#: A tile, bytes of an element, bytes that stay together, lane to index into the tile, bytes that a lane moves.
Held = tuple[str, int, int, str, int]


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


def smallest(answer: str, tile: str, element_bytes: int, *accesses: Lanes) -> str | None:
    """A swizzle of byte addresses that frees every access of conflicts, of as few bits as can be."""
    mine = swizzle_of(answer)
    total = cosize(layout_of(tile)) * element_bytes
    if any(mine(byte) >= total for byte in range(total)):
        return "moves bytes out of the tile"
    for number, (lanes, access_bytes) in enumerate(accesses, 1):
        met = _meeting(mine, addresses_of(tile, lanes, element_bytes), access_bytes)
        if met:
            return f"does not free access {number}: {met}"
    fewer = (one for one in _every(total, max(width for _, width in accesses)) if one.bits < mine.bits)
    for one in fewer:
        if not any(_meeting(one, addresses_of(tile, lanes, element_bytes), width) for lanes, width in accesses):
            return f"frees all accesses, but a swizzle of fewer bits than {mine.bits} does too"
    return None


def fewest_turns(answer: str, *questions: Held) -> str | None:
    """The fewest turns that each access can take, whatever the swizzle, where runs of bytes must stay together."""
    mine = integers_of(answer, len(questions))
    for number, (said, (tile, element_bytes, together, lanes, access_bytes)) in enumerate(
        zip(mine, questions, strict=True), 1
    ):
        addresses = addresses_of(tile, lanes, element_bytes)
        swizzles = list(_every(cosize(layout_of(tile)) * element_bytes, together))
        best = min(access([one(a) for a in addresses], access_bytes).wavefronts for one in swizzles)
        if said < best:
            return f"says {said} for access {number}, but all {len(swizzles)} swizzles ask some bank more often"
        if said > best:
            return f"says {said} for access {number}, but there is a swizzle with which it takes fewer"
    return None


def _every(total: int, together: int) -> Iterator[Swizzle]:
    """The identity, and every swizzle of the addresses below a power of two that keeps runs of so many bytes."""
    width, low = (total - 1).bit_length(), together.bit_length() - 1
    yield Swizzle(0, low, 0)
    for bits in range(1, width):
        for base in range(low, width):
            for shift in range(bits, width - base - bits + 1):
                yield Swizzle(bits, base, shift)
                yield Swizzle(bits, base, -shift)


def _meeting(swizzle: Swizzle, addresses: list[int], access_bytes: int) -> str | None:
    """Two lanes of a phase that ask one bank for different words, as a sentence."""
    moved = [swizzle(address) for address in addresses]
    if any(one % access_bytes for one in moved):
        return f"it tears {access_bytes} bytes of a thread apart, its lowest bit is too low"
    for phase in access(moved, access_bytes).phases:
        served: dict[int, tuple[int, int]] = {}
        for lane in phase:
            for word in range(moved[lane] // 4, (moved[lane] + access_bytes - 1) // 4 + 1):
                other, its = served.setdefault(word % 32, (lane, word))
                if its != word:
                    return f"threads {other} and {lane} meet in bank {word % 32}"
    return None


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


def turns_of(answer: str, tile: tuple[int, int], room: int, steps: Sequence[Step]) -> int | str:
    """The turns that a student's layout of a tile takes for all steps; or what is wrong with the layout.

    Args:
        answer: a layout from (row, byte) to the byte address, with a swizzle or without.
        tile: rows, and bytes of a row.
        room: bytes of memory that there are.
        steps: the accesses.

    >>> steps = (("8:1", 16, 0), ("8:128", 16, 0))
    >>> [turns_of(mine, (8, 128), 1024, steps) for mine in ("(8,128):(128,1)", "S<3,4,3> o 0 o (8,128):(128,1)")]
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
    for who, count, first in steps:
        lanes = layout_of(who)
        starts = [divmod(first + lanes(lane), rows)[::-1] for lane in range(size(lanes))]
        for row, byte in starts:
            run = places[row][byte : byte + count]
            if run[0] % count or run != list(range(run[0], run[0] + count)):
                return f"tears the {count} bytes of an access apart, or does not start them at a multiple of {count}"
        total += wavefronts([places[row][byte] for row, byte in starts], count)
    return total


def trace(answer: str, tile: tuple[int, int], room: int, par: int, *steps: Step) -> str | None:
    """A layout of a tile with which all accesses together take no more turns than the best that is known."""
    total = turns_of(answer, tile, room, steps)
    if isinstance(total, str):
        return total
    return None if total <= par else f"takes {total} turns; {par} are possible"


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "conflict free": conflict_free,
    "banks": banks,
    "turns": turns,
    "ranks": ranks,
    "stored": stored,
    "image": image,
    "same map": same_map,
    "in elements": in_elements,
    "smallest": smallest,
    "fewest turns": fewest_turns,
    "pitch": pitch,
    "trace": trace,
}
