"""Operands fill whole units of 16 bytes, however their modes are written."""

from __future__ import annotations

from typing import Any

import pytest
from derived import ALGEBRA

from descriptors import NotCanonicalError, derive

BF16: dict[str, Any] = {"dtype": "bf16", "mma": (64, 16)}


@pytest.mark.parametrize(
    ("layout", "mode", "found"),
    [
        ("(64,64):(64,2)", (1,), "16:2"),
        ("(64,64):(68,1)", (0,), "a step of 68 elements"),
        ("(64,64):(1,64)", (1,), "16:64"),
        ("(64,(4,16)):(4,(1,256))", (1,), "(4,4):(1,256)"),
        ("(64,(8,8)):(8,(1,516))", (1,), "a step of 516 elements"),
        ("(64,(12,8)):(48,(1,516))", (1,), "(12,4):(1,516)"),
        ("(64,64):(64,1)", (0, 0), "stride 8"),
    ],
)
def test_an_operand_that_does_not_fill_16_byte_units_is_refused(layout: str, mode: Any, found: str) -> None:
    with pytest.raises(NotCanonicalError) as caught:
        derive(layout=layout, major="K", **{**BF16, "mma": (64, 48 if "12" in layout else 16)}, **ALGEBRA)
    assert (caught.value.mode, caught.value.found) == (mode, found)


def test_a_contiguous_run_may_be_written_as_any_modes() -> None:
    arguments = {"swizzle": "64B", "dtype": "bf16", "mma": (8, 48), **ALGEBRA}
    whole, split = (derive(layout=layout, **arguments) for layout in ("(64,48):(32,1)", "(64,(12,4)):(32,(1,12))"))
    assert split.words() == whole.words()
    assert split.canonical == whole.canonical
