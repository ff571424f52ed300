"""The swizzles that tensor cores know by name."""

from __future__ import annotations

import pytest

from descriptors.smem.operands.operand import SwizzleMode
from layoutalg import SWIZZLE_MODES, Swizzle, swizzle_mode


def test_the_modes_are_those_that_descriptors_have() -> None:
    assert [str(mode) for mode in SwizzleMode] == ["none", *SWIZZLE_MODES]
    for mode in SwizzleMode:
        assert swizzle_mode(mode.swizzle or Swizzle(0, 4, 3)) == str(mode)


@pytest.mark.parametrize("bits", [1, 2, 3])
def test_the_pattern_of_a_mode_is_as_wide_as_its_name_says(bits: int) -> None:
    """Chunks of 16 bytes change places within rows of 16 << bits bytes, by the number of the 128-byte line."""
    swizzle = SWIZZLE_MODES[f"{16 << bits}B"]
    for line in range(16):
        for chunk in range(8):
            place = swizzle(128 * line + 16 * chunk)
            assert place == 128 * line + 16 * (chunk ^ (line % 8 >> 3 - 3 & (1 << bits) - 1))


def test_other_swizzles_have_no_name() -> None:
    assert {swizzle_mode(Swizzle(3, base, shift)) for base, shift in ((3, 3), (4, 4), (4, -3), (5, 3))} == {None}
