"""Warnings and notes: each mistake is told, and no right word is suspected."""

from __future__ import annotations

from typing import Any

import pytest
from derived import K_128, derivations, leaves
from each import each
from hypothesis import given

from descriptors import derive, read_addresses, tell
from descriptors.smem.debug.decode import Decoded, decode
from descriptors.smem.debug.warnings import Remark
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import Major, SwizzleMode
from descriptors.smem.words.bitfield import UnknownCode
from descriptors.smem.words.descriptor import WORDS
from descriptors.tmem.scale_factors import copy_steps

ARCHES = sorted(WORDS)


GOLDEN = 0x4000404000010000  # sm100, K-major 128B, SBO 1024, LBO 16


def kinds(decoded: Decoded) -> list[str]:
    return [remark.kind for remark in decoded.warnings]


def sm90(*, start: int = 0, leading: int = 16, stride: int = 1024, code: int = 1, base_offset: int = 0) -> int:
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | base_offset << 49 | code << 62


def sm100(*, start: int = 0, leading: int = 16, stride: int = 1024, code: int = 2, version: int = 1) -> int:
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | version << 46 | code << 61


@each("arch", ARCHES)
@each("swizzle", ["none", "32B", "64B", "128B"])
@each("major", ["K", "MN"])
def test_a_derived_word_has_no_warning(arch: str, swizzle: str, major: str) -> None:
    d = derive(**{**K_128, "major": major, "swizzle": swizzle}, arch=arch)
    for word in leaves(d.words()):
        assert not decode(word, arch, dtype="bf16", major=major, shape=(64, 16)).warnings
        assert not decode(word, arch).warnings


@given(d=derivations())
def test_a_derived_word_is_never_suspected_unless_no_instruction_reads_it(d: Derivation) -> None:
    operand: dict[str, Any] = {"dtype": d.element, "major": d.major, "shape": d.mma}
    for word in leaves(d.words()):
        for remark in decode(word, d.arch, **operand).warnings:
            assert remark.kind == "illegal-operand" or over(d, remark) or ambiguous(d, remark)


def ambiguous(d: Derivation, remark: Remark) -> bool:
    """Whether it doubts the swizzle of a word that could as well be another's: atoms stacked the unusual way, or a type
    that the mode is not for."""
    unusual = d.order[:2] != ((0, 1) if d.major is Major.K else (1, 0))
    not_for = d.swizzle is SwizzleMode.B128_BASE32B and d.element.storage_bits != 32
    return remark.kind == "other-numbering" and (unusual or not_for)


def over(d: Derivation, remark: Remark) -> bool:
    """Whether it says that a tile larger than shared memory is one."""
    return remark.kind == "memory" and d.advance_report().end > 227 * 1024


def test_unknown_bits_are_listed_and_are_ignored_only_where_that_was_measured() -> None:
    both = decode(sm90() | 3 << 14 | 1 << 31, "sm90").warnings[0]
    assert str(both) == "bits [14,16), 31 belong to no field and are ignored (measured on a Hopper GPU)"
    assert str(decode(GOLDEN | 1 << 53, "sm100").warnings[0]) == "bit 53 belongs to no field; PTX wants 0 there"


@pytest.mark.parametrize("code", [3, 5, 7])
def test_a_swizzle_code_that_names_nothing_is_a_warning_with_what_may_have_been_meant(code: int) -> None:
    decoded = decode(sm100(code=code), "sm100")
    assert decoded["swizzle"] == UnknownCode(code)
    assert kinds(decoded) == ["invalid-swizzle-code"]
    if code == 3:
        assert str(decoded.warnings[0]) == (
            "swizzle: code 3 is undefined in sm100; code 3 is 32B in sm90, 128B in a TMA tensor map; "
            "32B is 6 in sm100; 128B is 2 in sm100"
        )


@pytest.mark.parametrize(
    ("word", "arch", "mode"),
    [
        (sm90(code=2), "sm90", "if 128B was meant, its code is 1"),  # the 128B of sm100
        (sm90(code=3), "sm90", "if 128B was meant, its code is 1"),  # the 128B of TMA
        (sm90(code=1, stride=256), "sm90", "if 32B was meant, its code is 3"),  # the 32B of TMA
        (sm100(code=2, stride=512), "sm100", "if 64B was meant, its code is 4"),  # the 64B of sm90 and TMA
        (sm100(code=1), "sm100", "128B is 2 in sm100"),  # the 128B of sm90
    ],
)
def test_a_code_of_another_numbering_is_suspected_from_the_width_of_the_rows(word: int, arch: str, mode: str) -> None:
    decoded = decode(word, arch)
    assert kinds(decoded)[0] == "other-numbering"
    assert mode in str(decoded.warnings[0])


def test_a_code_with_the_rows_of_its_own_mode_raises_no_suspicion() -> None:
    for code, stride in ((1, 1024), (2, 512), (3, 256)):
        assert not decode(sm90(code=code, stride=stride), "sm90").warnings
    tf32 = sm100(code=1, stride=512, leading=1024)
    assert not decode(tf32, "sm100", dtype="tf32", major="MN").warnings
    assert kinds(decode(tf32, "sm100", dtype="bf16", major="MN"))[0] == "other-numbering"


def test_atoms_side_by_side_along_mn_speak_for_the_mode_of_the_word() -> None:
    d = derive(tile=(64, 32), dtype="bf16", major="MN", swizzle="64B", mma=(64, 16), order=(0, 1))
    assert (d.descriptor.leading_byte_offset, d.descriptor.stride_byte_offset) == (512, 1024)
    assert not decode(d.descriptor.encode(), "sm100").warnings


def test_the_version_tells_the_architectures_apart() -> None:
    assert kinds(decode(GOLDEN, "sm90")) == ["other-arch", "unknown-bits"]
    assert kinds(decode(sm90(), "sm100")) == ["version"]
    assert "PTX requires 1 in an sm100 word, found 0, as in an sm90 word" in str(decode(sm90(), "sm100").warnings[0])
    assert kinds(decode(GOLDEN | 1 << 52, "sm100")) == ["absolute-leading"]


@pytest.mark.parametrize(("stride", "what"), [(0, "all groups are read from the same bytes"), (512, "groups overlap")])
def test_a_stride_within_a_group_of_rows_is_a_warning(stride: int, what: str) -> None:
    decoded = decode(sm90(stride=stride, code=1), "sm90")
    assert "repeated-rows" in kinds(decoded)
    assert what in "\n".join(map(str, decoded.warnings))


def test_with_the_operand_known_repeated_reads_are_counted() -> None:
    operand: dict[str, Any] = {"dtype": "bf16", "major": "K"}
    decoded = decode(sm90(stride=0), "sm90", **operand, shape=(64, 16))
    assert [str(one) for one in decoded.warnings] == [
        "stride_byte_offset: 1024 elements are read from 128 places (stride_byte_offset 0)"
    ]
    assert not decode(sm90(stride=0), "sm90", **operand, shape=(8, 16)).warnings
    none = decode(sm90(code=0, leading=16, stride=128), "sm90", **operand, shape=(64, 16))
    assert kinds(none) == ["repeated-rows"]


@pytest.mark.parametrize(
    ("leading", "stride", "field"),
    [(16, 1024, "leading_byte_offset"), (1024, 16, "stride_byte_offset"), (16, 16, ""), (1024, 1024, "")],
)
def test_a_warning_of_repeated_reads_names_the_field_that_causes_them(leading: int, stride: int, field: str) -> None:
    word = sm90(leading=leading, stride=stride)
    (warning,) = decode(word, "sm90", dtype="bf16", major="MN", shape=(128, 16)).warnings
    assert (warning.kind, warning.field) == ("repeated-rows", field)


def test_a_warning_of_repeated_reads_names_no_field_that_is_not_read() -> None:
    (warning,) = decode(GOLDEN, "sm100", dtype="bf16", major="K", shape=(64, 256)).warnings
    assert (warning.kind, warning.field) == ("repeated-rows", "")


def test_a_number_that_was_not_shifted_is_a_warning() -> None:
    decoded = decode(1 << 62 | 1024 << 32, "sm90")  # 1024 stored where 64 was meant
    assert kinds(decoded) == ["unshifted"]
    assert "a step of 1024 bytes is stored as 64" in str(decoded.warnings[0])


def test_the_leading_offset_of_a_swizzled_k_major_operand_is_told_not_to_be_read() -> None:
    for leading in (0, 16, 8192):
        decoded = decode(sm90(leading=leading), "sm90", major="K")
        assert not decoded.warnings
        assert "not read; CUTLASS writes 16 bytes, others 0" in tell(decoded)
    assert "repeated-rows" in kinds(decode(sm90(leading=16), "sm90", major="MN"))
    assert "K-major: not read; MN-major: step to the next atom along MN" in tell(decode(sm90(), "sm90"))


@pytest.mark.parametrize("inside", [16, 32, 64, 112])
def test_a_start_inside_the_row_of_an_atom_is_a_note_and_no_warning(inside: int) -> None:
    decoded = decode(sm90(start=4096 + inside), "sm90")
    assert not decoded.warnings
    assert [note.kind for note in decoded.notes] == ["inside-an-atom"]


def test_a_start_in_another_row_is_a_warning_unless_the_base_offset_says_that_the_pattern_starts_there() -> None:
    decoded = decode(sm90(start=128), "sm90")
    assert kinds(decoded) == ["pattern-start"]
    assert "128 is no multiple of 1024" in str(decoded.warnings[0])
    assert "or base_offset 1" in str(decoded.warnings[0])
    assert "base_offset" not in str(decode(sm90(start=144), "sm90").warnings[0])
    assert not decode(sm90(start=128, base_offset=1), "sm90").warnings
    assert kinds(decode(sm90(start=0, base_offset=1), "sm90")) == ["pattern-start"]
    assert not decode(sm90(start=512, stride=512, code=2), "sm90").warnings  # 64B repeats after 512 bytes
    assert not decode(sm90(start=16, stride=128, code=0), "sm90", major="K", dtype="bf16", shape=(8, 8)).warnings


def test_an_operand_that_no_instruction_reads_is_a_warning() -> None:
    assert kinds(decode(sm90(leading=1024), "sm90", dtype="e4m3", major="MN")) == ["illegal-operand"]
    assert not decode(sm90(leading=1024), "sm90", dtype="bf16", major="MN").warnings
    assert "illegal-operand" in kinds(decode(GOLDEN, "sm100", dtype="tf32", major="MN"))


def test_a_read_beyond_shared_memory_is_a_warning() -> None:
    assert kinds(decode(sm90(start=232448), "sm90")) == ["memory"]
    assert kinds(decode(sm90(start=231424), "sm90", dtype="bf16", major="K", shape=(64, 16))) == ["memory"]


def test_a_word_without_meaning_that_starts_beyond_shared_memory_is_warned_of() -> None:
    word = sm100(start=232448, code=3)
    assert "memory" in kinds(decode(word, "sm100", dtype="bf16", major="K", shape=(64, 16)))


#: The third word of a tile with K = 96 across atoms: it begins at piece 6 and goes on at 16384.
ACROSS = 0x4010404004000006


def test_an_absolute_line_is_a_note_where_ptx_allows_it() -> None:
    decoded = decode(ACROSS, "sm100", dtype="e2m1", major="K", shape=(128, 96))
    assert not decoded.warnings
    assert [one.kind for one in decoded.notes] == ["inside-an-atom", "absolute-leading"]
    assert "must move with the tile" in str(decoded.notes[1])


@pytest.mark.parametrize(
    ("word", "operand", "text"),
    [
        (ACROSS ^ 6 << 61, {}, "swizzle must be 128B, is 64B"),
        (ACROSS, {"major": "MN"}, "major must be K, is MN"),
        (ACROSS | 1 << 49, {}, "base_offset must be 0, is 1"),
        (ACROSS | 1 << 16, {}, "must be a multiple of 128, where a line begins, is 16400"),
        (ACROSS, {"dtype": "bf16"}, "dtype must be e2m1, is bf16"),
    ],
)
def test_what_ptx_does_not_allow_beside_an_absolute_line_is_a_warning(
    word: int, operand: dict[str, Any], text: str
) -> None:
    remarks = [one for one in decode(word, "sm100", **operand).warnings if one.kind == "absolute-leading"]
    assert any(text in str(one) for one in remarks)


@each(
    ("major", "shape", "start", "across"),
    [
        ("MN", (64, 16), 32, True),  # the advance of a K-major operand
        ("MN", (128, 16), 64, True),
        ("MN", (32, 16), 64, False),
        ("K", (64, 16), 96, False),
        ("K", (64, 16), 112, True),
        ("MN", (64, 16), 0, False),
    ],
)
def test_a_start_inside_a_row_from_which_the_operand_reaches_the_next_row_is_a_warning(
    major: str, shape: tuple[int, int], start: int, across: bool
) -> None:
    word = sm90(start=start, leading=8192)
    decoded = decode(word, "sm90", dtype="bf16", major=major, shape=shape)
    first_row = 8 * 128 if major == "K" else 128  # the first row along K is line 0; of K-major, row mn is line mn
    rows = read_addresses(word & ~0x3FFF | start >> 4, arch="sm90", dtype="bf16", major=major, shape=shape)
    beyond = rows[:1, :] >= 128 if major == "K" else rows[:64, :1] >= first_row
    assert kinds(decoded) == ["across-rows"] * across
    assert bool(beyond.any()) is across


def test_the_word_of_a_copy_of_rows_of_16_bytes_has_a_note_and_no_warning() -> None:
    d = derive(tile=(32, 16), dtype="u8", major="K", swizzle="none", cp="32x128b", arch="sm100")
    (word,) = leaves(d.words())
    assert word == copy_steps(128, 64, 16, rows=128)[0].word
    assert [note.kind for note in decode(word, "sm100").notes] == ["single-column"]
    assert not decode(word, "sm100").warnings
    assert kinds(decode(word, "sm100", dtype="bf16", major="K", shape=(32, 16))) == ["repeated-rows"]
    assert kinds(decode(word ^ 1 << 46, "sm90")) == ["repeated-rows"]  # sm90 has no such copy
