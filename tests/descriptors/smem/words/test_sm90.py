"""The sm90 (wgmma) shared-memory descriptor word, field by field."""

from __future__ import annotations

import pytest

from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.words.bitfield import span
from descriptors.smem.words.descriptor import SM90_DESCRIPTOR

WORD = SM90_DESCRIPTOR


@pytest.mark.parametrize(
    ("field", "bits"),
    [
        ("start_address", "[0,14)"),
        ("leading_byte_offset", "[16,30)"),
        ("stride_byte_offset", "[32,46)"),
        ("base_offset", "[49,52)"),
        ("swizzle", "[62,64)"),
    ],
)
def test_each_field_is_where_the_ptx_isa_has_it(field: str, bits: str) -> None:
    assert span(WORD[field]) == bits


def test_there_are_no_other_fields() -> None:
    ignored = [bit for bit in range(64) if WORD.unknown_bits(1 << bit)]
    assert ignored == [14, 15, 30, 31, 46, 47, 48, *range(52, 62)]


@pytest.mark.parametrize(("mode", "code"), [("none", 0), ("128B", 1), ("64B", 2), ("32B", 3)])
def test_swizzle_codes_are_those_of_wgmma(mode: str, code: int) -> None:
    assert WORD.encode(swizzle=SwizzleMode(mode)) == code << 62


def test_addresses_and_offsets_are_stored_in_16_byte_units() -> None:
    word = WORD.encode(start_address=0x30, leading_byte_offset=16, stride_byte_offset=1024, swizzle=SwizzleMode.B128)
    assert word == 3 | 1 << 16 | 64 << 32 | 1 << 62 == 0x4000004000010003


def test_the_largest_address_fills_the_field_and_no_bit_more() -> None:
    assert WORD.encode(start_address=2**18 - 16) == 0x3FFF
