"""Judges of swizzles: as maps, in bytes or elements, and as the smallest that frees given accesses.

Law: two swizzles are one answer where they send every number of the range to the same.

>>> same_map("S<3,4,3>", "S<3,4,3>", 1024), in_elements("S<3,3,3>", "S<3,4,3>", 2)
(None, None)
>>> image("144", ("S<3,4,3>", 144))
'says 144 for 144: bit 4 of it becomes bit 4 xor bit 7, which is 0'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from descriptors.course.judges.accesses import addresses_of, swizzle_of
from descriptors.course.judges.typed import integers_of, layout_of
from layoutalg import Swizzle, access, cosize

#: Lane to index into a tile, and the bytes that a lane moves.
Lanes = tuple[str, int]
#: A tile, bytes of an element, bytes that stay together, lane to index into the tile, bytes that a lane moves.
Held = tuple[str, int, int, str, int]


def image(answer: str, *asked: tuple[str, int]) -> str | None:
    """Where swizzles send numbers: one of each pair."""
    mine = integers_of(answer, len(asked))
    for said, (name, number) in zip(mine, asked, strict=True):
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


def same_map(answer: str, wanted: str, count: int) -> str | None:
    """A swizzle that sends every number below a count where another does."""
    mine, right = swizzle_of(answer), swizzle_of(wanted)
    for number in range(count):
        if mine(number) != right(number):
            return f"sends {number} to {mine(number)}, must send it to {right(number)}"
    return None


def in_elements(answer: str, on_bytes: str, element_bytes: int) -> str | None:
    """A swizzle of element numbers that moves the bytes as one of byte addresses does."""
    mine, right = swizzle_of(answer), swizzle_of(on_bytes)
    for number in range(1 << 14):
        byte, found = element_bytes * number, element_bytes * mine(number)
        if found != right(byte):
            return f"sends element {number}, which is byte {byte}, to byte {found}, must send it to byte {right(byte)}"
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


def fewest_turns(answer: str, *asked: Held) -> str | None:
    """The fewest turns that each access can take, whatever the swizzle, where runs of bytes must stay together."""
    mine = integers_of(answer, len(asked))
    for number, (said, (tile, element_bytes, together, lanes, access_bytes)) in enumerate(
        zip(mine, asked, strict=True), 1
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


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "image": image,
    "same map": same_map,
    "in elements": in_elements,
    "smallest": smallest,
    "fewest turns": fewest_turns,
}
