"""Every swizzle of the hardware is recognised in every unit, and another is refused with the nearest."""

from __future__ import annotations

from typing import Any

import pytest
from each import each

from descriptors import NotCanonicalError, derive
from descriptors.smem.operands.operand import ELEMENT_TYPES, SwizzleMode
from descriptors.smem.operands.swizzled import recognize, swizzle_on_elements
from layoutalg import Swizzle

BF16: dict[str, Any] = {"dtype": "bf16", "mma": (64, 16)}


@each("element", ELEMENT_TYPES.values(), ids=str)
@each("mode", SwizzleMode)
def test_every_swizzle_is_recognised_in_every_unit(mode: SwizzleMode, element: Any) -> None:
    assert recognize(swizzle_on_elements(mode, element), element.storage_bits, "") is mode
    assert recognize(mode.swizzle or Swizzle(0, 4, 3), 8, "") is mode


@pytest.mark.parametrize(
    ("text", "unit", "form", "expected"),
    [
        (
            "S<3,4,3> o 0 o (64,64):(64,1)",
            "elements",
            "128B, S<3,4,3> on bytes",
            "S<3,3,3> on units of 16 bits",
        ),
        ("S<3,4,4> o 0 o (64,64):(64,1)", "cute", "128B, S<3,4,3> on bytes", "S<3,4,3> on units of 8 bits"),
        ("S<2,3,4> o 0 o (64,64):(64,1)", "elements", "64B, S<2,4,3> on bytes", "S<2,3,3> on units of 16 bits"),
        ("S<1,2,3> o 0 o (64,64):(64,1)", "bytes", "32B, S<1,4,3> on bytes", "S<1,4,3> on units of 8 bits"),
        ("S<3,3,-3> o 0 o (64,64):(64,1)", "elements", "128B, S<3,4,3> on bytes", "S<3,3,3> on units of 16 bits"),
        ("S<2,5,3> o 0 o (64,64):(64,1)", "bytes", "64B, S<2,4,3> on bytes", "S<2,4,3> on units of 8 bits"),
    ],
)
def test_another_swizzle_is_refused_with_the_nearest_mode(text: str, unit: str, form: str, expected: str) -> None:
    with pytest.raises(NotCanonicalError) as caught:
        derive(layout=text, unit=unit, **BF16)
    assert caught.value.mode is None
    assert caught.value.form == form
    assert caught.value.expected.startswith(expected)
