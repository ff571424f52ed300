"""Laws of the swizzle, by enumeration over every field position that fits ten bits."""

from __future__ import annotations

import judge
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from strategies import swizzles

from layoutalg import LayoutError, Swizzle, parse_layout

ALL_SMALL = [
    Swizzle(bits, base, shift)
    for bits in range(4)
    for base in range(4)
    for shift in range(-4, 5)
    if abs(shift) >= bits and bits + base + abs(shift) <= 10
]
OFFSETS = range(1024)


@each("swizzle", ALL_SMALL, ids=str)
def test_a_swizzle_is_the_exclusive_or_of_one_bit_field_into_another(swizzle):
    assert [swizzle(x) for x in OFFSETS] == [judge.swizzled(swizzle, x) for x in OFFSETS]


@each("swizzle", ALL_SMALL, ids=str)
def test_a_swizzle_is_its_own_inverse_and_so_a_permutation(swizzle):
    assert all(swizzle(swizzle(x)) == x for x in OFFSETS)
    assert sorted(map(swizzle, OFFSETS)) == list(OFFSETS)


@given(swizzles, st.integers(0, 2**20), st.integers(0, 2**20))
def test_a_swizzle_is_linear_over_exclusive_or(swizzle, x, y):
    assert swizzle(x ^ y) == swizzle(x) ^ swizzle(y)


@given(swizzles, st.integers(0, 2**20))
def test_a_swizzle_keeps_runs_below_its_base_together(swizzle, x):
    low = x % (1 << swizzle.base)
    assert swizzle(x) == swizzle(x - low) + low


@given(swizzles)
def test_the_text_and_the_repr_of_a_swizzle_read_back(swizzle):
    assert parse_layout(str(swizzle)) == swizzle
    assert eval(repr(swizzle), {"Swizzle": Swizzle}) == swizzle  # noqa: S307
    assert len({swizzle, Swizzle(swizzle.bits, swizzle.base, swizzle.shift)}) == 1


@given(st.integers(0, 6), st.integers(-8, 8), st.integers(0, 2**30))
def test_a_swizzle_of_no_bits_is_the_identity(base, shift, x):
    assert Swizzle(0, base, shift)(x) == x


@pytest.mark.parametrize(
    "arguments", [(2, 0, 1), (3, 4, -2), (-1, 0, 3), (1, -1, 3), (3, 60, 3), (1.0, 0, 1), (True, 0, 1)]
)
def test_fields_that_overlap_or_do_not_exist_are_refused(arguments):
    with pytest.raises(LayoutError):
        Swizzle(*arguments)


def test_the_128_byte_swizzle_moves_the_row_number_into_the_16_byte_chunk():
    # Swizzle<3,4,3> on bytes: chunk j of row i goes to chunk i xor j.
    assert all(Swizzle(3, 4, 3)(128 * i + 16 * j) == 128 * i + 16 * (i ^ j) for i in range(8) for j in range(8))
