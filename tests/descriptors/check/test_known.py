"""Known bits against enumeration, at the width of a byte, on random operands."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from seeds import seed_of_this_run

from descriptors.check.ptx import known_bits as known
from descriptors.check.ptx.known_bits import Known

RULES: dict[str, tuple[Callable[[Known, Known, int], Known], Callable[[int, int], int]]] = {
    "add": (known.add, lambda x, y: x + y),
    "subtract": (known.subtract, lambda x, y: x - y),
    "both": (known.both, lambda x, y: x & y),
    "either": (known.either, lambda x, y: x | y),
    "differ": (known.differ, lambda x, y: x ^ y),
}


def values(one: Known) -> list[int]:
    return [n for n in range(256) if n & one.mask & 255 == one.value & 255]


def draw(random_: random.Random) -> Known:
    mask = random_.randrange(256) | random_.randrange(256)
    return Known(random_.randrange(256) & mask, mask)


@pytest.mark.parametrize("name", RULES)
def test_a_result_holds_every_value_that_it_can_have(name: str) -> None:
    rule, real = RULES[name]
    random_ = random.Random(seed_of_this_run())
    for _ in range(60):
        a, b = draw(random_), draw(random_)
        made = rule(a, b, 8)
        found = {real(x, y) & 255 for x in values(a) for y in values(b)}
        assert all(n & made.mask & 255 == made.value & 255 for n in found), (a, b)
        if name != "subtract":  # as sharp as bits can be, where it is not written as a sum
            agreed = [bit for bit in range(8) if len({n >> bit & 1 for n in found}) == 1]
            assert [bit for bit in range(8) if made.mask >> bit & 1] == agreed, (a, b)


@pytest.mark.parametrize("by", range(9))
def test_shifts_hold_every_value(by: int) -> None:
    random_ = random.Random(seed_of_this_run() + by)
    a = draw(random_)
    left, right = known.shift_left(a, by, 8), known.shift_right(a, by, 8)
    assert all((n << by) & 255 & left.mask == left.value for n in values(a))
    assert all(n >> by & right.mask & 255 == right.value for n in values(a))


def test_a_distance_is_kept_through_sums_and_through_an_or_of_other_bits() -> None:
    base = Known(0, ~0xFF, "r")
    moved = known.add(base, known.exactly(6), 64)
    assert (moved.base, moved.offset) == ("r", 6)
    assert known.either(moved, known.exactly(1 << 40), 64).offset == 6 + (1 << 40)
    assert known.either(moved, known.exactly(1), 64).base == ""
    assert known.subtract(moved, known.exactly(2), 64).offset == 4


def test_where_two_values_meet_what_both_agree_on_is_known() -> None:
    met = known.meet(known.exactly(12), known.exactly(8))
    assert met.value == 8 and met.constant(64) is None and not met.mask & 4


@pytest.mark.parametrize(
    ("other", "base"),
    [
        (known.exactly((1 << 64) - 1), "r"),
        (known.exactly((1 << 64) - 256), "r"),  # clears what is 0 anyway
        (known.exactly((1 << 12) - 1), "r%12"),
        (known.exactly(1 << 12), ""),
        (known.exactly((1 << 64) - 512), ""),
        (Known(0, 0), ""),
        (Known(0, ~0xFF, "s"), ""),
    ],
)
def test_an_and_keeps_the_base_only_where_it_takes_no_bit_of_it_away(other: Known, base: str) -> None:
    aligned = Known(0, ~((1 << 64) - 256), "r", 256)
    for made in (known.both(aligned, other, 64), known.both(other, aligned, 64)):
        assert made.base == base
        assert made.offset == (256 if base else 0)


@pytest.mark.parametrize("by", range(1, 8))
def test_a_shift_keeps_a_distance_of_whole_multiples_alone(by: int) -> None:
    for offset in range(-64, 64):
        made = known.shift_right(Known(0, ~0xFF, "r", offset), by, 8)
        assert bool(made.base) == (offset % (1 << by) == 0)
        for origin in range(256) if made.base else ():
            assert (((origin + offset) & 255) >> by) - (origin >> by) - made.offset & (255 >> by) == 0


def test_a_mask_of_upper_bits_leaves_a_value_modulo_them_where_the_lower_are_zero() -> None:
    word, mask = Known(0, ~0xFFF0, "r", 32), known.exactly(0x3FF0)
    assert known.both(word, mask, 64)[2:4] == ("r%14", 32)
    assert known.both(word._replace(mask=~0xFFF1), mask, 64).base == ""
    assert known.both(word, known.exactly(0x3FE0), 64).base == ""


def test_the_low_half_of_a_word_is_an_address_by_its_own_offset() -> None:
    word = known.add(Known(0, ~0xFFF0, "&smem", -16), known.exactly(0x4000004000000000), 64)
    assert known.narrow(word, 32)[2:4] == ("&smem", -16)
