"""Judges of counterexamples to sentences on descriptor words: a word, two words, elements that show the opposite.

Each says what the sentence is taken to claim; an answer is right if it is an instance of which the claim is false.

Law: a pair of words that differ in one field counts only where the field moves nothing, or only where it does.

>>> asked = {"dtype": "bf16", "major": "K", "shape": [64, 16]}
>>> twins("0x4000004000010000, 0x4000004000000000", "sm90", asked, [16, 30], "128B")
>>> twins("0x0000004000010000, 0x0000004000000000", "sm90", asked, [16, 30], "128B")
'has the mode none, where the sentence is about 128B'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from descriptors.course.judges.typed import integers_of, layout_of, words_of
from descriptors.course.judges.words import compared, told
from descriptors.smem.debug.read import read
from descriptors.smem.words.bitfield import WINDOW_BYTES
from descriptors.smem.words.descriptor import WORDS, Arch, architecture
from layoutalg import size

Places = tuple[tuple[int, ...], ...]


def twins(
    answer: str, arch: Arch, asked: Mapping[str, Any], bits: Sequence[int], mode: str | None = None
) -> str | None:
    """Two words that differ in some bits alone, and read the same places all the same.

    Args:
        answer: the two words.
        arch, asked: how they are read: type, major, shape.
        bits: the lowest bit that may differ, and the first above.
        mode: the swizzle mode that the sentence is about; any if left out.
    """
    one, other = words_of(answer, 2)
    low, high = bits
    if one == other:
        return "is one word twice"
    if (one ^ other) & ~((1 << high) - (1 << low)):
        return f"differs in more than the bits {low} to {high - 1}"
    found = [str(WORDS[architecture(arch)].decode(word)["swizzle"]) for word in (one, other)]
    if mode is not None and found[0] != mode:
        return f"has the mode {found[0]}, where the sentence is about {mode}"
    places = _places(one, arch, asked), _places(other, arch, asked)
    if len({place for row in places[0] for place in row}) < len(places[0]) * len(places[0][0]):
        return "reads some places twice: such a word tells no operand"
    at = _differ(*places)
    return None if at is None else f"reads element {at} from two places: {_at(places[0], at)} and {_at(places[1], at)}"


def collision(answer: str, word: str, arch: Arch, asked: Mapping[str, Any]) -> str | None:
    """Two elements (mn, k) of an operand that a word reads from one place: then it is the word of no operand."""
    one, other = _pairs(answer)
    if one == other:
        return "is one element twice"
    places = _places(words_of(word)[0], arch, asked)
    outside = next((at for at in (one, other) if not _inside(places, at)), None)
    if outside:
        return f"has an element that there is not: {outside}"
    a, b = _at(places, one), _at(places, other)
    return None if a == b else f"names elements that are read from two places, {a} and {b}"


def elsewhere(answer: str, word: str, claimed: str, arch: Arch, asked: Mapping[str, Any]) -> str | None:
    """An element that a word reads from another place than a second word, which says what the sentence claims."""
    (at,) = _pairs(answer, 1)
    real, said = (_places(words_of(one)[0], arch, asked) for one in (word, claimed))
    if not _inside(real, at):
        return f"is an element that there is not: {at}"
    same = _at(real, at)
    return None if same != _at(said, at) else f"is read from {same} either way"


def uses(answer: str, layout: str, arch: Arch, asked: Mapping[str, Any], bits: Sequence[int]) -> str | None:
    """A word that reads a layout, and has some of these bits set."""
    (word,) = words_of(answer)
    low, high = bits
    if not word >> low & (1 << high - low) - 1:
        return f"has nothing in the bits {low} to {high - 1}"
    return told(compared(word, layout, arch, asked))


def carried(answer: str, arch: Arch) -> str | None:
    """A word and a number of units that is added to it, after which it does not begin that much further on."""
    word, step = integers_of(answer, 2)
    words_of(hex(word))
    if not 0 < step < 1 << 14:
        return f"must add 1 to 16383 units, found {step}"
    start = WORDS[architecture(arch)].decode(word)["start_address"]
    meant = start + 16 * step
    if meant < WINDOW_BYTES:
        return f"begins at {meant}, as it should: the start field has room for it"
    fields = [WORDS[architecture(arch)].decode(one & (1 << 64) - 1) for one in (word, word + step)]
    if fields[0]["leading_byte_offset"] != fields[1]["leading_byte_offset"]:
        return "was broken before: its bits 14 and 15, which are of no field, are set"
    return None


def apart(answer: str, layout: str, element_bytes: int) -> str | None:
    """Two rows whose elements lie in two banks: then not all rows meet in one."""
    rows, one = integers_of(answer, 2), layout_of(layout)
    outside = [row for row in rows if not 0 <= row < size(one)]
    if outside:
        return f"has a row that there is not: {outside[0]}"
    at = [element_bytes * one(row) // 4 % 32 for row in rows]
    return None if at[0] != at[1] else f"names two rows of one bank, {at[0]}"


def _places(word: int, arch: Arch, asked: Mapping[str, Any]) -> Places:
    shape = (asked["shape"][0], asked["shape"][1])
    return read(word, arch, dtype=asked["dtype"], major=asked["major"], shape=shape).addresses


def _pairs(answer: str, count: int = 2) -> list[tuple[int, int]]:
    numbers = integers_of(answer, 2 * count)
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _inside(places: Places, at: tuple[int, int]) -> bool:
    return 0 <= at[0] < len(places) and 0 <= at[1] < len(places[0])


def _at(places: Places, at: tuple[int, int]) -> int:
    return places[at[0]][at[1]]


def _differ(one: Places, other: Places) -> tuple[int, int] | None:
    cells = ((i, k) for i, row in enumerate(one) for k, place in enumerate(row) if place != other[i][k])
    return next(cells, None)


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    "twins": twins,
    "collision": collision,
    "elsewhere": elsewhere,
    "uses": uses,
    "carried": carried,
    "apart": apart,
}
