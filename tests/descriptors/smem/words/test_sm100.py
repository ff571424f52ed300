"""The sm100 (tcgen05) shared-memory descriptor word, field by field."""

from __future__ import annotations

import pytest

from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.words.bitfield import UnknownCode, span
from descriptors.smem.words.descriptor import SM100_DESCRIPTOR

WORD = SM100_DESCRIPTOR


@pytest.mark.parametrize(
    ("field", "bits"),
    [
        ("start_address", "[0,14)"),
        ("leading_byte_offset", "[16,30)"),
        ("stride_byte_offset", "[32,46)"),
        ("version", "[46,49)"),
        ("base_offset", "[49,52)"),
        ("lbo_mode", "[52,53)"),
        ("swizzle", "[61,64)"),
    ],
)
def test_each_field_is_where_the_ptx_isa_has_it(field: str, bits: str) -> None:
    assert span(WORD[field]) == bits


def test_there_are_no_other_fields() -> None:
    unknown = [bit for bit in range(64) if WORD.unknown_bits(1 << bit)]
    assert unknown == [14, 15, 30, 31, *range(53, 61)]


@pytest.mark.parametrize(("mode", "code"), [("none", 0), ("128B_BASE32B", 1), ("128B", 2), ("64B", 4), ("32B", 6)])
def test_swizzle_codes_are_those_of_tcgen05(mode: str, code: int) -> None:
    assert WORD.encode(swizzle=SwizzleMode(mode), version=0) == code << 61


@pytest.mark.parametrize("code", [3, 5, 7])
def test_the_other_swizzle_codes_name_nothing(code: int) -> None:
    assert WORD.decode(code << 61)["swizzle"] == UnknownCode(code)


def test_the_version_is_one_unless_said_otherwise() -> None:
    assert WORD.decode(WORD.encode())["version"] == 1


@pytest.mark.parametrize(
    ("word", "leading", "stride", "mode"),
    [(0x4000404000010000, 16, 1024, "128B"), (0x8000402002000000, 8192, 512, "64B")],
)
def test_the_words_of_the_two_worked_examples_read_as_the_article_has_them(
    word: int, leading: int, stride: int, mode: str
) -> None:
    fields = WORD.decode(word)
    assert (fields["leading_byte_offset"], fields["stride_byte_offset"]) == (leading, stride)
    assert fields["swizzle"] is SwizzleMode(mode)
    assert WORD.unknown_bits(word) == 0
    assert WORD.encode(fields) == word
