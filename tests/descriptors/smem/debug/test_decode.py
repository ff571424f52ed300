"""A word decoded: no bit of it lost, every field in bytes and in words."""

from __future__ import annotations

from typing import Any

import pytest
from derived import K_128
from hypothesis import given
from hypothesis import strategies as st

from descriptors import DescriptorError, derive, diff, tell
from descriptors.smem.debug.decode import Decoded, decode
from descriptors.smem.debug.read import read
from descriptors.smem.operands.operand import ELEMENT_TYPES, SwizzleMode
from descriptors.smem.words.descriptor import WORDS

ARCHES = sorted(WORDS)
words = st.integers(0, 2**64 - 1)
GOLDEN = 0x4000404000010000  # sm100, K-major 128B, SBO 1024, LBO 16


def kinds(decoded: Decoded) -> list[str]:
    return [remark.kind for remark in decoded.warnings]


@given(word=words, arch=st.sampled_from(ARCHES))
def test_the_fields_and_the_unknown_bits_are_the_whole_word(word: int, arch: str) -> None:
    decoded = decode(word, arch)
    assert WORDS[arch].encode({row.name: row.value for row in decoded.fields}) | decoded.unknown_bits == word
    assert sum(row.stored << row.field.low for row in decoded.fields) | decoded.unknown_bits == word


@given(
    word=words,
    arch=st.sampled_from(ARCHES),
    dtype=st.sampled_from([None, *ELEMENT_TYPES]),
    major=st.sampled_from([None, "K", "MN"]),
    shape=st.sampled_from([None, (64, 16), (8, 64), (256, 8), (1, 1)]),
)
def test_any_word_is_told_in_plain_lines_whatever_is_known_of_the_operand(
    word: int, arch: str, dtype: Any, major: Any, shape: Any
) -> None:
    decoded = decode(word, arch, dtype=dtype, major=major, shape=shape)
    text = tell(decoded)
    assert text.isascii()
    known = arch != "sm90"
    assert len(text.splitlines()) == 2 + len(decoded.fields) + len(decoded.warnings) + len(decoded.notes) + known
    assert not [line for line in text.splitlines() if line != line.rstrip()]
    for remark in (*decoded.warnings, *decoded.notes):
        assert str(remark) in text
        assert not remark.text.endswith((":", ";", " "))


def test_offsets_are_in_bytes_and_the_swizzle_is_a_mode() -> None:
    decoded = decode(GOLDEN, "sm100")
    assert [decoded[row.name] for row in decoded.fields] == [0, 16, 1024, 1, 0, 0, SwizzleMode.B128]
    assert not decoded.warnings
    assert "stride_byte_offset   [32,46)  1024 bytes  64 x 16 bytes" in tell(decoded)


@pytest.mark.parametrize("major", ["K", "MN"])
@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
def test_the_fields_that_change_nothing_are_those_of_the_canonical_form(major: str, swizzle: str) -> None:
    for mma in ((64, 16), (8, 16), (16, 16)):
        d = derive(**{**K_128, "major": major, "swizzle": swizzle, "mma": mma}, legality="off")
        decoded = decode(d.descriptor.encode(), "sm100", dtype="bf16", major=major, shape=mma)
        assert set(decoded.dont_care) == set(d.dont_care)
    assert decode(GOLDEN, "sm100", major="K").dont_care == ("leading_byte_offset",)
    assert decode(GOLDEN, "sm100").dont_care == ()


def test_a_word_with_fields_in_the_wrong_bits_shows_what_it_really_says() -> None:
    decoded = decode(0x0010000002001000, "sm90")
    assert [decoded[row.name] for row in decoded.fields] == [0x10000, 8192, 0, 0, SwizzleMode.NONE]
    assert decoded.unknown_bits == 1 << 52
    assert kinds(decoded) == ["unknown-bits", "repeated-rows"]
    assert str(decoded.warnings[0]).startswith("bit 52 belongs to no field and is ignored (measured on a Hopper GPU)")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"word": -1}, "the minimum is 0"),
        ({"word": 2**64}, "the maximum is"),
        ({"word": "0x10"}, "an integer"),
        ({"arch": "sm80"}, "sm90, sm100"),
        ({"dtype": "bf17"}, "dtype is "),
        ({"major": "L"}, "K, MN"),
        ({"shape": (64,)}, "two extents"),
        ({"shape": (0, 16)}, "the minimum is 1"),
        ({"shape": (1 << 40, 16)}, "the maximum is"),
    ],
)
def test_bad_input_is_a_typed_error(arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DescriptorError, match=complaint):
        decode(**{"word": GOLDEN, "arch": "sm100", **arguments})


def test_an_unknown_field_is_an_error() -> None:
    with pytest.raises(DescriptorError, match=r"a field is .*not supported.*supported: start_address"):
        decode(GOLDEN, "sm100")["stride"]


def test_a_word_is_one_of_sm100_unless_another_architecture_is_named() -> None:
    assert decode(0x4000404000010000) == decode(0x4000404000010000, "sm100")
    difference = diff(0x4000404000010000, "S<3,3,3> o 0 o (64,16):(64,1)", dtype="bf16", major="K")
    assert (difference.arch, difference.ok) == ("sm100", True)


def test_an_absolute_leading_address_is_told_as_one_and_whether_it_is_read() -> None:
    operand: dict[str, Any] = {"dtype": "e2m1", "major": "K", "shape": (128, 96)}
    crosses, stays = decode(0x4010404004000006, "sm100", **operand), decode(0x4010404004000401, "sm100", **operand)
    assert crosses["leading_byte_offset"] == stays["leading_byte_offset"] == 16384
    assert (crosses.dont_care, stays.dont_care) == ((), ("leading_byte_offset",))
    meanings = [one.fields[1].meaning for one in (crosses, stays)]
    assert meanings[0] == "absolute address of the line of 128 bytes in which K goes on"
    assert meanings[1] == meanings[0] + "; K ends in its own line, so that it is not read"
    assert decode(0x4010404004000006).dont_care == ()
    assert decode(0x4010404008000805, **operand).dont_care == ("leading_byte_offset",)  # it ends where its line does


@pytest.mark.parametrize(("word", "arch"), [(0x4000004000010000, "sm90"), (0x4000404000010000, "sm100")])
def test_every_function_reads_a_word_for_the_architecture_of_its_version_bits(word: int, arch: str) -> None:
    operand: dict[str, Any] = {"dtype": "bf16", "major": "K"}
    assert decode(word) == decode(word, arch)  # type: ignore[arg-type]
    assert read(word, **operand, shape=(64, 16)) == read(word, arch, **operand, shape=(64, 16))  # type: ignore[arg-type]
    assert diff(word, "S<3,3,3> o 0 o (64,16):(64,1)", **operand).arch == arch
