"""Element types, majors and swizzle modes: closed lists, read from text, with an error that names the choices."""

from __future__ import annotations

import pytest
from each import each

from descriptors.errors import ChoiceError
from descriptors.smem.operands.operand import (
    ELEMENT_TYPES,
    ElementType,
    Major,
    SwizzleMode,
    as_element_type,
    as_major,
    as_swizzle_mode,
)

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "e2m3": 6, "e3m2": 6, "e2m1": 4, "s8": 8, "u8": 8}


@each(("name", "bits"), BITS.items())
def test_every_element_type_is_read_by_name_and_has_its_width(name: str, bits: int) -> None:
    assert as_element_type(name).bits == bits
    assert as_element_type(name.upper()) is as_element_type(name)


@each("element", ELEMENT_TYPES.values(), ids=str)
def test_sixteen_bytes_hold_a_whole_number_of_elements(element: ElementType) -> None:
    assert element.per_16_bytes * element.storage_bits == 128
    assert element.storage_bits >= element.bits


def test_six_bit_types_live_in_containers_and_packed_fp4_does_not() -> None:
    assert as_element_type("e2m3").storage_bits == as_element_type("e3m2").storage_bits == 8
    assert as_element_type("e2m1").storage_bits == 4
    assert as_element_type("e2m1_unpacksmem").storage_bits == 8


@pytest.mark.parametrize("mode", [mode for mode in SwizzleMode if mode.swizzle is not None], ids=str)
def test_a_swizzle_permutes_within_its_span_and_repeats_at_its_period_and_not_before(mode: SwizzleMode) -> None:
    swizzle = mode.swizzle
    assert swizzle is not None

    def repeats(step: int) -> bool:
        return all(swizzle(address + step) == swizzle(address) + step for address in range(2048))

    assert repeats(mode.period_bytes)
    assert not any(repeats(step) for step in range(16, mode.period_bytes, 16))
    assert all(swizzle(address) // mode.span_bytes == address // mode.span_bytes for address in range(2048))


def test_an_aligned_tile_starts_with_the_pattern_and_one_mode_asks_for_more_than_its_period() -> None:
    assert {mode: mode.alignment_bytes // mode.period_bytes for mode in SwizzleMode} == {
        **dict.fromkeys(SwizzleMode, 1),
        SwizzleMode.B128_BASE32B: 2,
    }


@pytest.mark.parametrize("choice", [*Major])
def test_a_major_is_read_from_its_own_text(choice: Major) -> None:
    assert as_major(str(choice)) is as_major(str(choice).lower()) is as_major(choice) is choice


@pytest.mark.parametrize("choice", [*SwizzleMode])
def test_a_swizzle_mode_is_read_from_its_own_text(choice: SwizzleMode) -> None:
    assert as_swizzle_mode(str(choice)) is as_swizzle_mode(str(choice).lower()) is as_swizzle_mode(choice) is choice


@each("reader", [as_element_type, as_major, as_swizzle_mode])
@each("value", [None, 16, 1.5, "", "bf17", b"bf16", ["bf16"], ("K",), {}, 10**400, "K" * 10**6, object])
def test_anything_else_is_an_error_that_lists_the_choices(reader: object, value: object) -> None:
    with pytest.raises(ChoiceError) as caught:
        reader(value)  # type: ignore[operator]
    assert len(str(caught.value)) < 300
    assert all(choice in str(caught.value) for choice in caught.value.choices)
