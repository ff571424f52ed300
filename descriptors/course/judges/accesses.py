"""Judges of shared-memory accesses and swizzles: banks, turns, storage of a tile, padding.

In one turn (a wavefront), each bank of shared memory serves one word. The hint for a wrong number of turns names
threads that disprove the number.

>>> turns("2", ("(8,8):(8,1)", "8:1", 4, 4)), turns("1", ("(8,8):(8,1)", "8:1", 4, 4))
(None, 'says 1 for access 1, but threads 0 and 4 read different words of bank 0')

Two swizzles are the same answer if they map every number of the range to the same number.

>>> same_map("S<3,4,3>", "S<3,4,3>", 1024), in_elements("S<3,3,3>", "S<3,4,3>", 2)
(None, None)
>>> image("144", ("S<3,4,3>", 144))
'says 144 for 144: its bit 4 becomes bit 4 xor bit 7, which is 0'

The right row pitch is the smallest one without conflicts.

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

#: An access: the tile in memory, the index of each lane in the tile, bytes of an element, bytes that a lane moves.
Question = tuple[str, str, int, int]
#: A required access: the index of each lane in the tile, bytes that a lane moves, the number of turns.
Goal = tuple[str, int, int]


_TRIPLE = re.compile(r"(?:S *)?[<(]? *(-?\d+) *[,; ] *(-?\d+) *[,; ] *(-?\d+) *[>)]?")


def swizzle_of(text: str) -> Swizzle:
    """Parse a swizzle.

    Raises:
        DescriptorError: if the text is not a swizzle.
        LayoutError: if the text cannot be parsed.

    >>> print(swizzle_of("S<3,4,3>"), swizzle_of("(3, 4, 3)"))
    S<3,4,3> S<3,4,3>
    """
    numbers = _TRIPLE.fullmatch(text.strip(" \t\r\n`.'\""))
    value = evaluate(f"S<{','.join(numbers.groups())}>" if numbers else written(text))
    if not isinstance(value, Swizzle):
        raise DescriptorError(f"answer: {text} is not a swizzle, such as S<3,4,3>")
    return value


def banks(answer: str, *addresses: int) -> str | None:
    """Judge the banks of some byte addresses."""
    numbers = integers_of(answer, len(addresses))
    for bank, address in zip(numbers, addresses, strict=True):
        if not 0 <= bank < 32:
            return f"says bank {bank} for address {address}, but the banks are 0 to 31"
        if (bank - address // 4) % 32:
            return f"says bank {bank} for address {address}, but {address} is not an address of that bank"
    return None


def turns(answer: str, *questions: Question) -> str | None:
    """Judge the number of turns of each access."""
    numbers = integers_of(answer, len(questions))
    for number, (turns_said, (tile, lanes, element_bytes, access_bytes)) in enumerate(
        zip(numbers, questions, strict=True), 1
    ):
        served = access(addresses_of(tile, lanes, element_bytes), access_bytes)
        if turns_said != served.wavefronts:
            return f"says {turns_said} for access {number}, but {_why_not(turns_said, served, access_bytes)}"
    return None


def addresses_of(tile: str, lanes: str, element_bytes: int) -> list[int]:
    """Return the byte address of each lane.

    >>> addresses_of("(8,8):(8,1)", "8:1", 4)
    [0, 32, 64, 96, 128, 160, 192, 224]
    """
    layout, lane_index = layout_of(tile), layout_of(lanes)
    return [element_bytes * layout(lane_index(lane)) for lane in range(size(lane_index))]


def _why_not(turns_said: int, cost: Access, access_bytes: int) -> str:
    """Return a reason why a number of turns is wrong."""
    phases = len(cost.phases)
    if turns_said < 1:
        return "an access that moves data takes at least one turn"
    if turns_said < phases:
        return f"a turn moves at most 128 bytes, and {len(cost.addresses)} threads move {access_bytes} each"
    if turns_said > cost.wavefronts:
        return _apart(cost, access_bytes)
    worst = max(range(phases), key=lambda phase: cost.phase_wavefronts[phase])
    lanes_of_words: dict[int, dict[int, int]] = {}
    for lane in cost.phases[worst]:
        for word in _words(cost.addresses[lane], access_bytes):
            lanes_of_words.setdefault(word % 32, {}).setdefault(word, lane)
    bank = max(lanes_of_words, key=lambda bank: len(lanes_of_words[bank]))
    lanes = sorted(lanes_of_words[bank].values())[: turns_said // phases + 1]
    return f"threads {', '.join(map(str, lanes[:-1]))} and {lanes[-1]} read different words of bank {bank}"


def _apart(served: Access, access_bytes: int) -> str:
    """Name two lanes of one phase that are served in the same turn."""
    lanes = len(served.addresses)
    for phase in served.phases:
        for lane in phase:
            for other in range(lane + 1, phase[-1] + 1):
                words, other_words = (set(_words(served.addresses[i], access_bytes)) for i in (lane, other))
                if words == other_words:
                    return f"threads {lane} and {other} read the same word, which is served once for both"
                if not {word % 32 for word in words} & {word % 32 for word in other_words}:
                    banks = f"{min(words) % 32} and {min(other_words) % 32}"
                    return f"threads {lane} and {other} begin in the different banks {banks}"
    return f"there are {lanes} threads, and each needs at most one turn"


def _words(address: int | None, access_bytes: int) -> range:
    return range(0) if address is None else range(address // 4, (address + access_bytes - 1) // 4 + 1)


def stored(answer: str, shape: tuple[int, int], element_bytes: int, places: int, *goals: Goal) -> str | None:
    """Judge a tile in memory, padded or swizzled, whose accesses must take given numbers of turns.

    Args:
        answer: the layout of the tile.
        shape: rows and columns.
        element_bytes: bytes of an element.
        places: the largest size of the tile in memory, in elements.
        goals: the required accesses.
    """
    layout = written_layout(answer)
    if counts_of(layout) != tuple(shape):
        return f"has modes of {list(counts_of(layout))} elements, must have {list(shape)}"
    seen: dict[int, int] = {}
    for index in range(size(layout)):
        place = offset_of(layout, index)
        if place in seen:
            first, second = (_coordinate(i, shape) for i in (seen[place], index))
            return f"stores the elements {first} and {second} at the same place, {place}"
        seen[place] = index
    used = max(seen) - min(seen) + 1  # cosize of a swizzled layout needs numpy, which a browser page does not have
    if used > places:
        return f"takes {used} places, must take at most {places}"
    for number, (lanes, access_bytes, goal_turns) in enumerate(goals, 1):
        addresses = addresses_of(str(layout), lanes, element_bytes)
        torn = _torn(str(layout), lanes, element_bytes, access_bytes)
        if torn:
            return torn
        used = wavefronts(addresses, access_bytes)
        if used != goal_turns:
            return f"takes {counted(used, 'turn')} for access {number}, must take {goal_turns}"
    return None


def _torn(tile: str, lanes: str, element_bytes: int, access_bytes: int) -> str | None:
    """Return the first lane whose bytes are not contiguous or not aligned; None if there is none."""
    layout, lane_index = layout_of(tile), layout_of(lanes)
    rows = counts_of(layout)[0]
    for lane in range(size(lane_index)):
        first = lane_index(lane)
        addresses = [element_bytes * layout(first + k * rows) for k in range(access_bytes // element_bytes)]
        if addresses[0] % access_bytes:
            return f"lets thread {lane} begin at byte {addresses[0]}, which is not a multiple of {access_bytes}"
        if addresses != list(range(addresses[0], addresses[0] + access_bytes, element_bytes)):
            return f"splits the {access_bytes} bytes of thread {lane}"
    return None


def _coordinate(index: int, shape: tuple[int, int]) -> tuple[int, int]:
    return index % shape[0], index // shape[0]


def image(answer: str, *questions: tuple[str, int]) -> str | None:
    """Judge the numbers to which swizzles map other numbers."""
    numbers = integers_of(answer, len(questions))
    for image_said, (name, number) in zip(numbers, questions, strict=True):
        swizzle = swizzle_of(name)
        differ = image_said ^ swizzle(number)
        if image_said < 0 or differ:
            return f"says {image_said} for {number}: {_bit(swizzle, number, (differ & -differ).bit_length() - 1)}"
    return None


def _bit(swizzle: Swizzle, number: int, place: int) -> str:
    """Describe one bit of a swizzled number."""
    if swizzle.target_mask >> place & 1:
        source = place + swizzle.shift
        return f"its bit {place} becomes bit {place} xor bit {source}, which is {swizzle(number) >> place & 1}"
    return f"its bit {place} does not change and is {number >> place & 1}"


def same_map(answer: str, pattern: str, count: int) -> str | None:
    """Judge a swizzle that must be equal to another one on all numbers below a count."""
    swizzle, right = swizzle_of(answer), swizzle_of(pattern)
    for number in range(count):
        if swizzle(number) != right(number):
            return f"maps {number} to {swizzle(number)}, must map it to {right(number)}"
    return None


def in_elements(answer: str, on_bytes: str, element_bytes: int) -> str | None:
    """Judge a swizzle of element numbers that must be equal to a swizzle of byte addresses."""
    swizzle, right = swizzle_of(answer), swizzle_of(on_bytes)
    for number in range(1 << 14):
        byte, image = element_bytes * number, element_bytes * swizzle(number)
        if image != right(byte):
            return f"maps element {number}, which is byte {byte}, to byte {image}, must map it to byte {right(byte)}"
    return None


def pitch(answer: str, lanes: int, width: int, access_bytes: int) -> str | None:
    """Judge the smallest row pitch in bytes with which a column takes as few turns as its bytes need.

    >>> [pitch(answer, 32, 128, 4) for answer in ("132", "128", "140", "130")]
    [None, 'takes 32 turns, must take 1', 'takes 1, but a smaller pitch does too', 'is not a multiple of 4']
    """
    (number,) = integers_of(answer, 1)
    if number % access_bytes:
        return f"is not a multiple of {access_bytes}"
    if number < width:
        return f"is less than a row of {width} bytes"
    used, needed = _column(lanes, number, access_bytes), -(-lanes * access_bytes // 128)
    if used != needed:
        return f"takes {used} turns, must take {needed}"
    return f"takes {needed}, but a smaller pitch does too" if number > least_pitch(lanes, width, access_bytes) else None


def least_pitch(lanes: int, width: int, access_bytes: int) -> int:
    """Return the smallest conflict-free row pitch in bytes. An odd number of accesses per row is conflict-free."""
    needed = -(-lanes * access_bytes // 128)
    candidates = range(width, width + 128 + access_bytes, access_bytes)
    return next(pitch for pitch in candidates if _column(lanes, pitch, access_bytes) == needed)


def _column(lanes: int, pitch: int, access_bytes: int) -> int:
    return wavefronts([lane * pitch for lane in range(lanes)], access_bytes)


#: The judges, by the names that exercises use.
JUDGES: dict[str, Callable[..., str | None]] = {
    "banks": banks,
    "turns": turns,
    "stored": stored,
    "image": image,
    "same map": same_map,
    "in elements": in_elements,
    "pitch": pitch,
}
