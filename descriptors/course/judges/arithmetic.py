"""Judges of the arithmetic that layouts are made of: remainders, quotients, bits, exclusive or.

Law: a number is right if the definition holds for it, and is told where it does not.

>>> sums("2, 3", (17, "mod", 5), (17, "div", 5)), sums("6", (12, "xor", 10)), bits("1101", 13)
(None, None, None)
>>> sums("5", (12, "xor", 10))
'says 5 for 12 xor 10: bit 0 is 1, but both have 0 there'
"""

from __future__ import annotations

from collections.abc import Callable

from descriptors.course.judges.typed import integers_of


def sums(answer: str, *asked: tuple[int, str, int]) -> str | None:
    """A number for each question `a mod b`, `a div b` or `a xor b`."""
    mine = integers_of(answer, len(asked))
    for said, (a, operation, b) in zip(mine, asked, strict=True):
        wrong = _OPERATIONS[operation](said, a, b)
        if wrong:
            return f"says {said} for {a} {operation} {b}: {wrong}"
    return None


def _mod(said: int, a: int, b: int) -> str | None:
    if not 0 <= said < b:
        return f"a remainder of {b} is one of 0 to {b - 1}"
    return None if (a - said) % b == 0 else f"{a} - {said} is no multiple of {b}"


def _div(said: int, a: int, b: int) -> str | None:
    if said * b > a:
        return f"{said} times {b} is {said * b}, more than {a}"
    left = a - said * b
    return None if left < b else f"{said} times {b} is {said * b}, which leaves {left}, and {b} goes into that again"


def _xor(said: int, a: int, b: int) -> str | None:
    for place in range(max(said, a, b, 0).bit_length()):
        one, other, mine = (number >> place & 1 for number in (a, b, said))
        if mine != (one != other):
            have = f"both have {one}" if one == other else f"one has {one} and the other {other}"
            return f"bit {place} is {mine}, but {have} there"
    return None if said >= 0 else "bits without a sign make no negative number"


_OPERATIONS: dict[str, Callable[[int, int, int], str | None]] = {"mod": _mod, "div": _div, "xor": _xor}


def bits(answer: str, *numbers: int) -> str | None:
    """Each number in binary, zeros in front or not."""
    mine = [one.strip().removeprefix("0b") for one in answer.strip("()[] ").split(",")]
    if len(mine) != len(numbers):
        return f"has {len(mine)} numbers, must have {len(numbers)}"
    for text, number in zip(mine, numbers, strict=True):
        if not text or set(text) - {"0", "1"} or len(text) > 64:
            return f"must be written with 0 and 1 alone, found {text[:20]}"
        if int(text, 2) != number:
            parts = [str(1 << place) for place, one in enumerate(reversed(text)) if one == "1"]
            return f"says {text} for {number}, but that is {' + '.join(reversed(parts)) or 0}"
    return None


#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {"sums": sums, "bits": bits}
