"""The kind of an instruction is told by its types."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from descriptors.errors import ChoiceError
from descriptors.smem.instructions.legality import check_scale
from descriptors.smem.instructions.rules import IllegalError, kind_of, kind_row


@pytest.mark.parametrize(
    ("arch", "types", "scaled", "kind"),
    [
        ("sm100", ("bf16",), False, "f16"),
        ("sm100", ("tf32",), False, "tf32"),
        ("sm100", ("s8", "u8"), False, "i8"),
        ("sm100", ("e2m3",), False, "f8f6f4"),
        ("sm100", ("e2m1_unpacksmem",), False, "f8f6f4"),
        ("sm100", ("e4m3", "e2m1"), True, "mxf8f6f4"),
        ("sm100", ("e2m1",), False, "mxf4"),
        ("sm90", ("e4m3", "e5m2"), False, "f8"),
        ("sm90", ("b1",), False, "b1"),
    ],
)
def test_types_tell_the_kind(arch: str, types: tuple[str, ...], scaled: bool, kind: str) -> None:
    assert kind_of(arch, *types, scaled=scaled) == kind


@pytest.mark.parametrize(("arch", "types"), [("sm100", ("bf16", "e4m3")), ("sm90", ("e2m1",)), ("sm100", ("f32",))])
def test_types_of_no_one_kind_are_refused(arch: str, types: tuple[str, ...]) -> None:
    with pytest.raises(IllegalError, match="has no kind of MMA instruction for"):
        kind_of(arch, *types)


@pytest.mark.parametrize("odd", [{1: 2}, [1], numpy.array([1, 2]), 9, None, float("nan"), b"sm90"], ids=repr)
def test_a_name_of_another_kind_of_value_is_refused_in_words(odd: Any) -> None:
    with pytest.raises(ChoiceError, match="arch"):
        kind_row(odd, "f16")
    with pytest.raises(ChoiceError, match="kind of sm100"):
        kind_row("sm100", odd)
    with pytest.raises(ChoiceError):
        check_scale(odd, "ue8m0", 32, k=64)
