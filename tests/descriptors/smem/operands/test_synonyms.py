"""Other names for a choice mean the one that they can only mean; where they may mean several, all are named."""

from __future__ import annotations

from typing import Any

import pytest

from descriptors import DescriptorError, derive
from descriptors.cli.command import main
from descriptors.errors import ChoiceError
from descriptors.smem.instructions.idesc import idesc
from descriptors.smem.operands.operand import (
    ELEMENT_TYPES,
    SYNONYMS,
    Major,
    SwizzleMode,
    as_element_type,
    as_major,
    as_swizzle_mode,
    major_of,
)
from descriptors.smem.words.descriptor import WORDS, architecture

NAMES = {*ELEMENT_TYPES, *WORDS, *map(str, Major), *map(str, SwizzleMode)}


def test_no_synonym_is_the_name_of_another_choice() -> None:
    assert not {name.casefold() for name in NAMES} & set(SYNONYMS)
    assert all(meant in NAMES | {"32x128b"} for meanings in SYNONYMS.values() for meant in meanings)


@pytest.mark.parametrize(
    ("reader", "names", "choice"),
    [
        (as_swizzle_mode, ("SW128", "128", "K_SW128", "MN_SW128", "Swizzle_128B"), "128B"),
        (as_swizzle_mode, ("INTER", "K_INTER"), "none"),
        (as_swizzle_mode, ("MN_SW128_32B",), "128B_BASE32B"),
        (as_major, ("N", "m", "MN-major"), "MN"),
        (as_element_type, ("half", "float16", "fp16"), "f16"),
        (as_element_type, ("bfloat16",), "bf16"),
        (as_element_type, ("fp8_e4m3", "float_e4m3_t", "float8_e4m3fn", "f8E4M3FN"), "e4m3"),
        (architecture, ("sm_90a", "90", "Hopper"), "sm90"),
        (architecture, ("sm_100a", "sm_100", "100", "blackwell"), "sm100"),
    ],
)
def test_another_name_means_the_choice(reader: Any, names: tuple[str, ...], choice: str) -> None:
    assert {str(reader(name)) for name in names} == {choice}


def test_a_name_of_several_types_is_refused_with_all_of_them() -> None:
    with pytest.raises(ChoiceError, match="is 'fp8', which is not supported; supported: e4m3, e5m2"):
        as_element_type("fp8")
    with pytest.raises(ChoiceError, match="is 'fp8', which is not supported; supported: e4m3, e5m2"):
        idesc("fp8", m=128, n=128)
    assert idesc("half", m=128, n=128) == idesc("f16", m=128, n=128)


def test_a_near_miss_is_named() -> None:
    with pytest.raises(ChoiceError, match=r"is 'bf17', which is not supported \(did you mean bf16\?\)"):
        as_element_type("bf17")
    with pytest.raises(ChoiceError, match="is 'zzz', which is not supported; supported"):
        as_element_type("zzz")


def test_the_name_of_an_atom_says_the_major_and_must_not_contradict_it() -> None:
    d = derive(tile=(128, 64), dtype="bf16", swizzle="MN_SW128", mma=(64, 16))  # type: ignore[arg-type]
    assert d.major is Major.MN
    for swizzle, major, matrix in (("K_SW128", "MN", None), ("128B", "N", "A"), ("128B", "M", "B")):
        with pytest.raises(DescriptorError, match=r"is a .*-major atom, but major is|can be K-major or"):
            major_of(swizzle, major, matrix)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("operand", "cta_group", "extents"), [("A", None, (64, 16)), ("B", None, (128, 16)), ("B", 2, (64, 16))]
)
def test_an_instruction_by_its_name_reads_what_its_operand_is(
    operand: Any, cta_group: int | None, extents: tuple[int, int]
) -> None:
    arguments: dict[str, Any] = {
        "tile": (128, 64),
        "dtype": "bf16",
        "major": "K",
        "swizzle": "128B",
        "operand": operand,
    }
    d = derive(**arguments, cta_group=cta_group, mma="m64n128k16", legality="off")
    assert d.mma == extents
    with pytest.raises(DescriptorError, match="operand is missing; m64n128k16 reads 64x16 of A and 128x16 of B"):
        derive(**{**arguments, "operand": None}, mma="m64n128k16")
    with pytest.raises(DescriptorError, match="or named like m64n128k16, found '64by16'"):
        derive(**arguments, mma="64by16")


WORD = "0x4000404000010000"


@pytest.mark.parametrize(
    "word",
    ["0x4000404000010000ULL", "0x4000_4040_0001_0000", "0x40004040 0x00010000", "4611756662049538048", " " + WORD],
)
def test_a_word_is_read_as_programs_write_it(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decode", word, "--json"]) == 0
    assert f'"word": "{WORD}"' in capsys.readouterr().out


def test_digits_that_may_be_hexadecimal_are_refused_with_both_readings(capsys: pytest.CaptureFixture[str]) -> None:
    for bare in ("4000404000010000", "c000404000010000"):
        assert main(["decode", bare]) == 2
        message = capsys.readouterr().err
        assert f"0x{bare}" in message
        assert ("or 4000404000010000u for the decimal number 0x000e3658a360ef10" in message) == bare.isdigit()
    assert main(["decode", "4000404000010000u"]) == 0
    assert "0x000e3658a360ef10" in capsys.readouterr().out


def test_what_was_assumed_is_said_in_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    tile = ["derive", "--tile", "128,64", "--dtype", "bf16", "--swizzle", "K_SW128"]
    for command, note in (
        (["decode", WORD], "assuming sm100, by the version bits [46,49) of the word, 1"),
        (["decode", "0x4000004000010000"], "assuming sm90, by the version bits [46,49) of the word, 0"),
        (["decode", "0x40004040 0x00010000"], "the first half is read as the high half: 0x4000404000010000"),
        (
            [*tile, "--mma", "64x16", "--words"],
            "assuming sm100, because no --arch is given; Hopper: sm90",
        ),
    ):
        assert main(command) == 0
        assert f"note: {note}\n" in capsys.readouterr().out
    for options, said in (
        (["64x16"], "arch       sm100 (tcgen05), assumed, because no --arch is given; Hopper: sm90"),
        (["m64n128k16", "--operand", "B"], "arch       sm90 (wgmma), assumed, by the instruction m64n128k16"),
    ):
        assert main([*tile, "--mma", *options]) == 0
        assert capsys.readouterr().out.splitlines()[1] == said
    assert main([*tile, "--mma", "64x16", "--arch", "sm_90a"]) == 0
    assert "assumed" not in capsys.readouterr().out


def test_numbers_that_another_tool_counts_otherwise_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    tile = ["derive", "--tile", "128x64", "--dtype", "bf16", "--swizzle", "K_SW128", "--mma", "128x16"]
    tile += ["--arch", "sm100"]
    pair = ["--cta-group", "2"]
    shifted = "warning: base 128 is not a multiple of 1024, so base_offset is 1 and the swizzle pattern starts"
    for command, line in (
        ([*tile, "--base", "0x80"], shifted),
        (
            [*tile, *pair],
            "note: with cta_group 2 each CTA has 128 of M (of A) or N (of B) 256; idesc needs the value for both CTAs",
        ),
        (
            [*tile, *pair, "--operand", "B"],
            "each CTA has 128 of N 256; idesc needs the value for both CTAs",
        ),
        (
            ["idesc", "--a", "bf16", "--m", "256", "--n", "128", *pair],
            "note: M 256 and N 128 count both CTAs",
        ),
        (
            ["idesc", "--a", "e2m1", "--m", "128", "--n", "128"],
            "note: assuming kind mxf4, because --scale-dtype is not",
        ),
    ):
        assert main(command) == 0
        assert line in capsys.readouterr().out
    for command in (
        [*tile, "--base", "0x400"],
        ["idesc", "--a", "e2m1", "--m", "128", "--n", "128", "--scale-dtype", "ue4m3"],
        ["idesc", "--a", "e2m1", "--m", "128", "--n", "128", "--kind", "mxf4"],
    ):
        assert main(command) == 0
        assert not {"note:", "warning:"} & set(capsys.readouterr().out.split())
