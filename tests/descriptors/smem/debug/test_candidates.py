"""Which majors and swizzle modes fit a layout: all that do, and a reason for each that does not."""

from __future__ import annotations

from typing import Any

import pytest
from derived import K_128, derivations
from hypothesis import given

from descriptors import DescriptorError, NotCanonicalError, derive, plain
from descriptors.smem.debug.candidates import candidates
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import Major, SwizzleMode
from descriptors.smem.proof.addresses import fetched_rows, stored_rows
from layoutalg import LayoutError

EVERY = [(major, mode) for major in Major for mode in SwizzleMode]


@given(d=derivations())
def test_a_tile_of_atoms_fits_its_own_major_and_mode_plain_or_swizzled(d: Derivation) -> None:
    for tile in (d.smem_tile, plain(d.smem_tile)):
        every = candidates(tile, d.element, shape=d.mma, arch=d.arch)
        own = next(one for one in every if (one.major, one.swizzle) == (d.major, d.swizzle))
        assert own.fit is not None
        descriptor, mask = own.fit.descriptor, d.dont_care_mask()
        assert descriptor.encode() & ~mask == d.descriptor.encode() & ~mask


@given(d=derivations())
def test_what_fits_is_read_as_laid_out_and_what_does_not_has_a_reason(d: Derivation) -> None:
    every = candidates(plain(d.smem_tile), d.element, shape=d.mma, arch=d.arch)
    assert {(one.major, one.swizzle) for one in every} == set(EVERY)
    assert [one.fit is not None for one in every] == sorted((one.fit is not None for one in every), reverse=True)
    for one in every:
        if one.fit is None:
            assert one.reason
            assert not one.usable
            continue
        assert not one.reason
        word = one.fit.descriptor.encode()
        addresses = fetched_rows([word], arch=d.arch, element=d.element, major=one.major, shape=d.mma)[0]
        assert addresses == stored_rows(one.fit.layout, d.element)


def fitting(layout: str, **arguments: Any) -> list[tuple[str, str]]:
    return [(str(one.major), str(one.swizzle)) for one in candidates(layout, **arguments) if one.fit]


def test_the_row_pitch_of_a_plain_layout_decides_the_mode() -> None:
    assert fitting("(64,16):(64,1)", dtype="bf16") == [("K", "128B")]
    assert fitting("(64,16):(32,1)", dtype="bf16") == [("K", "64B")]
    assert fitting("(64,16):(16,1)", dtype="bf16") == [("K", "32B")]
    assert fitting("((8,8),(8,2)):((8,64),(1,512))", dtype="bf16") == [("K", "none")]
    assert fitting("(64,16):(1,64)", dtype="bf16") == [("MN", "128B"), ("MN", "128B_BASE32B")]
    assert fitting("(64,16):(72,1)", dtype="bf16") == []


def test_a_swizzled_layout_fits_its_own_mode_alone_and_the_others_say_why() -> None:
    every = candidates("S<3,3,3> o 0 o (64,16):(64,1)", "bf16")
    assert [(str(one.major), str(one.swizzle)) for one in every if one.fit] == [("K", "128B")]
    reasons = {(str(one.major), str(one.swizzle)): one.reason for one in every}
    assert "the swizzle is 128B, expected 64B" in reasons["K", "64B"]
    assert "8 contiguous bf16 elements" in reasons["MN", "128B"]
    assert "form = MN-major 64B" in reasons["MN", "64B"]


def test_the_reasons_name_the_mode_that_fails_with_expected_and_found() -> None:
    reasons = {str(one.swizzle): one.reason for one in candidates("(64,16):(64,1)", "bf16") if one.major is Major.K}
    assert "mode (0,0) has stride 8, expected stride 4" in reasons["64B"]
    assert "mode (0,0) has stride 8, expected stride 1" in reasons["none"]
    assert "swizzle 128B_BASE32B has no K-major form" in reasons["128B_BASE32B"]


def test_what_fits_but_no_instruction_reads_says_so_and_comes_after() -> None:
    every = candidates("(32,8):(1,32)", "tf32")
    assert [(str(one.swizzle), one.usable) for one in every if one.fit] == [("128B_BASE32B", True), ("128B", False)]
    assert "(swizzle is 128B, but must be" in str(every[1])
    assert [one.usable for one in candidates("(64,32):(1,64)", "e4m3", arch="sm90") if one.fit] == [False]


def test_a_mode_that_the_architecture_lacks_does_not_fit_it() -> None:
    every = candidates("(32,8):(1,32)", "tf32", arch="sm90")
    base32 = next(one for one in every if one.swizzle is SwizzleMode.B128_BASE32B and one.major is Major.MN)
    assert base32.fit is None
    assert "supported: none, 128B, 64B, 32B" in base32.reason


def test_an_operand_of_a_larger_tile_is_asked_for_by_its_shape() -> None:
    tile = derive(**K_128).smem_tile
    assert fitting(str(tile), dtype="bf16", shape=(64, 16)) == [("K", "128B")]
    assert fitting(str(tile), dtype="bf16") == []  # 128x128 in one instruction: K takes two steps
    with_stages = "((8,16),(64,2),3):((64,512),(1,8192),16384)"
    assert fitting(with_stages, dtype="bf16", shape=(64, 16)) == [("K", "128B")]


def test_an_offset_that_no_field_holds_does_not_fit() -> None:
    every = candidates("((8,2),16):((64,131072),1)", "bf16")  # the next 8 rows are 256 KB away
    assert not [one for one in every if one.fit]
    reason = next(one.reason for one in every if (one.major, one.swizzle) == (Major.K, SwizzleMode.B128))
    assert "stride_byte_offset is" in reason or "outside the 262144 bytes" in reason


def test_each_is_told_in_a_line() -> None:
    first, second, *_ = candidates("(64,16):(64,1)", "bf16", arch="sm90")
    said = "K-major 128B: fits; LBO 16, SBO 1024, word 0x4000004000010000"
    assert str(first) == f"{said}, if stored as S<3,3,3> o 0 o (64,16):(64,1)"
    one = candidates("(64,16):(64,1)", "bf16", arch="sm90", swizzle="128B")[0]
    assert str(one) == f"{said}, stored as S<3,3,3> o 0 o (64,16):(64,1)"
    assert str(second).startswith("K-major none: no; row 1 of MN begins 128 bytes after row 0, where a ")


@pytest.mark.parametrize(
    ("layout", "arguments", "error", "complaint"),
    [
        ("(64,16", {}, LayoutError, "."),
        ("64:1", {}, DescriptorError, "modes"),
        (None, {}, DescriptorError, "None is not a layout"),
        ("S<3,4,3> o 0 o (64,16):(64,1)", {}, NotCanonicalError, "swizzle is "),
        ("(64,16):(64,1)", {"dtype": "f8"}, DescriptorError, "dtype"),
        ("(64,16):(64,1)", {"arch": "sm1"}, DescriptorError, "arch"),
        ("(64,16):(64,1)", {"shape": 64}, DescriptorError, "two extents"),
        ("(64,16):(64,1)", {"shape": (60, 16)}, DescriptorError, "which is not a multiple"),
        ("(64,16):(64,1)", {"unit": "bits"}, DescriptorError, "unit"),
    ],
)
def test_bad_input_is_a_typed_error(
    layout: Any, arguments: dict[str, Any], error: type[Exception], complaint: str
) -> None:
    with pytest.raises(error, match=complaint):
        candidates(layout, **{"dtype": "bf16", **arguments})


def test_a_candidate_of_extents_that_no_instruction_reads_is_not_usable() -> None:
    first = candidates("(64,64):(64,1)", "bf16", arch="sm90", shape=(4, 16))[0]
    assert first.fit is not None and not first.usable
    assert first.illegal == "no sm90 instruction reads a 4x16 bf16 operand"
