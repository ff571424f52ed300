"""What LBO and SBO are said to mean is what the read model does with them."""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from numpy.typing import NDArray

from descriptors import SmemDescriptor, read_addresses
from descriptors.errors import ChoiceError
from descriptors.smem.operands.canonical import is_read, path_of, step_meaning, walked
from descriptors.smem.operands.forms import LEADING, STRIDE, form
from descriptors.smem.operands.operand import ELEMENT_TYPES, ElementType, Major, SwizzleMode

WALKS = [(major, mode) for major in Major for mode in SwizzleMode]
SAMPLES = [ELEMENT_TYPES[name] for name in ("e2m1", "e4m3", "bf16", "tf32")]


def moved_by(field: str, major: Major, mode: SwizzleMode, element: ElementType) -> NDArray[np.int64]:
    """The elements whose address depends on a field, by the read model: of a large operand, in the order of (MN, K)."""
    shape = (512, 512)
    steps = {LEADING: 1 << 14, STRIDE: 1 << 16}
    longer = {**steps, field: steps[field] + 1024}
    words = [SmemDescriptor("sm100", one[LEADING], one[STRIDE], mode).encode() for one in (steps, longer)]
    here, there = (read_addresses(word, arch="sm100", dtype=element, major=major, shape=shape) for word in words)
    return np.argwhere(here != there)


@each("element", SAMPLES, ids=str)
@each(("major", "mode"), WALKS, ids=str)
@each("field", [LEADING, STRIDE])
def test_a_step_is_taken_first_where_its_meaning_says(
    field: str, major: Major, mode: SwizzleMode, element: ElementType
) -> None:
    canonical, places = walked(major, mode), moved_by(field, major, mode, element)
    assert is_read(canonical, field) == bool(len(places))
    if not len(places):
        return
    atom = mode.span_bytes * 8 // element.storage_bits
    first = {
        "step to the next 16 bytes along MN": (element.per_16_bytes, 0),
        "step to the next 16 bytes along K": (0, element.per_16_bytes),
        "step to the next atom along MN": (atom, 0),
        "step to the next 8 rows along MN": (8, 0),
        "step to the next 8 k": (0, 8),
        "step to the next 4 k": (0, 4),
    }
    at = first[step_meaning(canonical, field)]
    mode_of_step = path_of(canonical, field)[0]
    assert places[:, mode_of_step].min() == at[mode_of_step] > 0
    assert (places == at).all(axis=1).any()


def test_only_an_operand_without_canonical_form_is_walked_by_another() -> None:
    others = {(major, mode) for major, mode in WALKS if walked(major, mode).mode is not mode}
    assert others == {(Major.K, SwizzleMode.B128_BASE32B)}
    assert walked(Major.MN, SwizzleMode.B64) == form("MN", "64B")


def test_another_field_is_no_step() -> None:
    with pytest.raises(
        ChoiceError, match=r"canonical: an offset is .*not supported.*supported: leading_byte_offset, stride_byte_off"
    ):
        path_of(form("K", "none"), "swizzle")
