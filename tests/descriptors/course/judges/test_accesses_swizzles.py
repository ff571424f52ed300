"""Judges of swizzles: as maps, whatever their numbers, in any notation."""

from __future__ import annotations

import pytest
from each import each

from descriptors.course.judges.accesses import JUDGES
from descriptors.errors import DescriptorError

CASES = [
    ("image", (("S<3,4,3>", 128), ("S<3,4,3>", 400)), "144, 416", None),
    ("image", (("S<3,4,3>", 128),), "128", "its bit 4 becomes bit 4 xor bit 7, which is 1"),
    ("image", (("S<3,4,3>", 128),), "16", "its bit 7 does not change and is 1"),
    ("image", (("S<3,4,3>", 128),), "-1", "says -1 for 128"),
    ("image", (("S<2,0,-2>", 1),), "1", "its bit 2 becomes bit 2 xor bit 0, which is 1"),
    ("same map", ("S<2,0,2>", 16), "S<2,0,2>", None),
    ("same map", ("S<2,0,2>", 16), "Swizzle<2,0,2>", None),
    ("same map", ("S<2,0,2>", 16), "make_swizzle(2, 0, 2)", None),
    ("same map", ("S<2,0,2>", 4), "S<0,0,0>", None),
    ("same map", ("S<2,0,2>", 16), "S<1,0,2>", "maps 8 to 8, must map it to 10"),
    ("in elements", ("S<3,4,3>", 2), "S<3,3,3>", None),
    ("in elements", ("S<3,4,3>", 4), "S<3,2,3>", None),
    ("in elements", ("S<3,4,3>", 2), "S<3,4,3>", "maps element 64, which is byte 128, to byte 128"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")


def test_what_is_no_swizzle_is_refused() -> None:
    with pytest.raises(DescriptorError, match="is not a swizzle"):
        JUDGES["same map"]("8:1", "S<3,4,3>", 8)


def test_the_image_of_a_number_is_what_exclusive_or_makes_of_it_and_nothing_else() -> None:
    for b, m, s in ((1, 0, 1), (2, 1, 2), (2, 0, 3), (1, 0, -1), (2, 0, -2)):
        for number in range(32):
            mask = (1 << b) - 1
            low, high = (m, m + s) if s > 0 else (m - s, m)
            right = number ^ (number >> high & mask) << low
            judgement = [k for k in range(80) if JUDGES["image"](str(k), (f"S<{b},{m},{s}>", number)) is None]
            assert judgement == [right]
