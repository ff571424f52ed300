"""Words of bit fields: one declaration, encoded and decoded without losing a bit."""

from __future__ import annotations

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError
from descriptors.errors import ChoiceError, FieldError
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.words.bitfield import Field, UnknownCode, Word, span
from descriptors.smem.words.descriptor import SM90_DESCRIPTOR, SM100_DESCRIPTOR

WORDS = [SM90_DESCRIPTOR, SM100_DESCRIPTOR]
words_of_64_bits = st.integers(0, 2**64 - 1)


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.name)
@given(value=words_of_64_bits)
def test_decoding_and_encoding_again_gives_every_word_back(word: Word, value: int) -> None:
    assert word.encode(word.decode(value)) | word.unknown_bits(value) == value


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.name)
@given(data=st.data())
def test_encoding_and_decoding_gives_every_value_back(word: Word, data: st.DataObject) -> None:
    values = {}
    for field in word.fields:
        meanings = [meaning for meaning, _ in field.codes]
        steps = st.integers(0, 2**field.bits - 1).map(lambda step, unit=field.unit: step * unit)
        values[field.name] = data.draw(st.sampled_from(meanings) if meanings else steps)
    encoded = word.encode(values)
    assert word.decode(encoded) == values
    assert word.unknown_bits(encoded) == 0


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.name)
@given(start=st.integers(0, 2**14 - 1), step=st.integers(0, 2**14 - 1))
def test_a_field_changes_no_bit_outside_its_mask(word: Word, start: int, step: int) -> None:
    low = word.encode(start_address=start * 16)
    high = word.encode(start_address=step * 16)
    assert (low ^ high) & ~word.mask(["start_address"]) == 0


def test_a_field_left_out_takes_its_default() -> None:
    assert SM100_DESCRIPTOR.encode() == 1 << 46
    assert SM90_DESCRIPTOR.encode() == 0


def test_a_code_without_a_meaning_survives_the_round_trip() -> None:
    value = 5 << 61
    decoded = SM100_DESCRIPTOR.decode(value)
    assert decoded["swizzle"] == UnknownCode(5)
    assert str(decoded["swizzle"]) == "invalid code 5"
    assert SM100_DESCRIPTOR.encode(decoded) == value


def test_bits_outside_the_fields_are_reported() -> None:
    assert SM90_DESCRIPTOR.unknown_bits(1 << 46 | 1 << 14 | 3) == 1 << 46 | 1 << 14


@each(
    ("name", "value", "what"),
    [
        ("stride_byte_offset", 8, "is 8, which is not a multiple of 16"),
        ("stride_byte_offset", 262144, "is 262144, which is not in [0, 262128]"),
        ("stride_byte_offset", -16, "is -16, which is not in [0, 262128]"),
        ("start_address", 10**400, "is a number of 1329 bits, which is not in [0, 262128]"),
        ("start_address", 10**9000, "is a number of 29898 bits, which is not in [0, 262128]"),
        ("base_offset", 8, "is 8, which is not in [0, 7]"),
        ("base_offset", 1.0, "is 1.0, which is not an integer"),
        ("base_offset", True, "is True, which is not an integer"),
        ("base_offset", (10**9000,), "is a tuple, which is not an integer"),
        ("base_offset", None, "is None, which is not an integer"),
        ("base_offset", "1", "is '1', which is not an integer"),
    ],
    ids=lambda value: "huge" if value in (10**9000, (10**9000,)) else None,
)
def test_a_value_that_the_field_cannot_hold_is_an_error_naming_the_field(name: str, value: object, what: str) -> None:
    with pytest.raises(FieldError) as caught:
        SM100_DESCRIPTOR.encode({name: value})
    assert str(caught.value) == f"sm100 shared-memory descriptor: {name} {what}"
    assert caught.value.field == name


def test_a_meaning_without_a_code_is_an_error_listing_the_meanings() -> None:
    with pytest.raises(
        ChoiceError, match=r"swizzle is .*128B_BASE32B, which is not supported; supported: none, 128B, 64B, 32B"
    ):
        SM90_DESCRIPTOR.encode(swizzle=SwizzleMode.B128_BASE32B)


def test_a_name_that_is_no_field_is_an_error_listing_the_fields() -> None:
    with pytest.raises(
        ChoiceError, match=r"a field is 'lbo', which is not supported; supported: start_address, .*, swizzle"
    ):
        SM100_DESCRIPTOR.encode(lbo=16)


@pytest.mark.parametrize("word", [-1, 2**64, 1.5, None, "0x10", 10**400])
def test_only_integers_of_the_words_width_can_be_decoded(word: object) -> None:
    with pytest.raises(DescriptorError):
        SM100_DESCRIPTOR.decode(word)  # type: ignore[arg-type]


def test_fields_that_overlap_make_no_word() -> None:
    with pytest.raises(FieldError, match="overlaps another field"):
        Word("example", 32, (Field("a", 0, 8), Field("b", 7, 2)))


def test_a_field_beyond_the_word_makes_no_word() -> None:
    with pytest.raises(FieldError, match="is not within 32 bits"):
        Word("example", 32, (Field("a", 30, 3),))


def test_a_field_writes_its_bits_as_the_documents_do() -> None:
    assert span(SM100_DESCRIPTOR["stride_byte_offset"]) == "[32,46)"
