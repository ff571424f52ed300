"""The command `descriptors tensor-map`: a map read, judged, and held against a word, a layout or another map."""

from __future__ import annotations

import io
import json

import pytest
from each import each
from refusals import refusal

from descriptors.cli.command import main

MAP = "type=bf16 extents=512x64 strides=1024 box=64x64 swizzle=128B"
SIX = MAP.replace("64x64", "64x6")

FP4 = "type=16U4_ALIGN16B extents=256x64 strides=128 box=128x8 swizzle=128B"
FP4_LAYOUT = "S<3,4,3> o 0 o (8,128):(128,1)"
NARROW = MAP.replace("128B", "64B")


AT_128 = ["--major", "K", "--mma", "64x16", "--base", "0x80"]
NARROW_128 = MAP.replace("box=64x64 swizzle=128B", "box=32x64 swizzle=64B")


@each(
    ("arguments", "status", "line"),
    [
        ([MAP], 0, "accepted by the driver 580.159.04"),
        ([MAP.replace("128B", "64B")], 1, "boxDim[0] is 128 bytes, wider than the 64 bytes of the swizzle"),
        ([MAP, MAP], 0, "same: all arguments of the maps"),
        ([MAP, MAP.replace("128B", "none")], 1, "swizzle  128B -> default"),
        ([MAP, "0x4000404000010000", "--major", "K"], 0, "same: the word reads all 4096 elements"),
        ([MAP, "0x8000402000010000", "--major", "K"], 1, "right word: 0x4000404000010000"),
        ([MAP, "0x4000004000010000", "--major", "K", "--arch", "sm90", "--shape", "64x16"], 0, "same: the word reads"),
        ([MAP, "0x4000004000010000", "--major", "K"], 0, "64x64 is one operand, of which an instruction reads a part"),
        ([MAP, "0x4000004000010000", "--major", "K", "--mma", "64x16"], 0, "compared: subtile (0,0), 64x16"),
        ([MAP, "0x4000004000010033", "--major", "K", "--mma", "64x16"], 1, "change: start_address 816 -> 0"),
        ([MAP, "0x4000004000010040", "--major", "K", "--mma", "64x16"], 0, "assumed: the tile starts at 0x400"),
        ([SIX, "0x4000004000010000", "--major", "K"], 0, "undecided: the word reads all 384 elements"),
        (
            [SIX, "0x4000004000010000", "--major", "K"],
            0,
            "no sm90 instruction reads 6x64, or operands that divide it: MN 6",
        ),
        (
            [SIX, "0x4000004000010000", "--major", "K", "--mma", "64x16"],
            0,
            "reads 64x16, of which only 6x16 were compared",
        ),
        ([SIX, "0x8000004000010000", "--major", "K", "--mma", "64x16"], 1, "different: 80 of 96 elements"),
        ([MAP, "S<3,3,3> o 0 o (64,64):(64,1)", "--major", "K"], 0, "same: all 4096 elements of the box"),
        ([MAP, "S<3,3,3> o 0 o (128,64):(64,1)", "--major", "K"], 0, "the layout has 128 x 64"),
        ([MAP, "S<3,4,3> o 0 o (64,64):(64,1)", "--major", "K", "--unit", "cute"], 0, "same: all 4096"),
        ([MAP, "(64,64):(64,1)", "--major", "K"], 1, "(1,0) lands at byte 144, the layout has it at 128"),
        ([MAP, "S<3,3,3> o 0 o (64,64):(1,64)", "--major", "MN"], 0, "same: all 4096 elements"),
        ([MAP], 0, "known: measured on a Hopper GPU"),
        ([MAP, "S<3,3,3> o 0 o (64,64):(64,1)", "--major", "K"], 0, "known: measured on a Hopper GPU"),
        ([MAP, "0x4000004000010008", *AT_128], 0, "same: the word reads all 1024 elements"),
        ([MAP, "0x4002004000010008", *AT_128], 1, "right word: 0x4000004000010008"),
        ([NARROW_128, "0x8002002000010008", *AT_128], 1, "right word: 0x8000002000010008"),
        ([FP4, FP4], 0, "same: all arguments of the maps"),
        ([FP4, FP4_LAYOUT, "--major", "K", "--unit", "bytes"], 0, "not measured on a Blackwell"),
        ([MAP, "--arch", "sm90"], 0, "accepted by the driver 580.159.04 of a Hopper GPU"),
        ([MAP, "--arch", "sm100"], 0, "accepted for sm100 by the rules of the driver 580.159.04"),
        ([FP4], 1, "tensorDataType is 16U4_ALIGN16B, which needs sm_100 or later"),
        ([FP4, "--arch", "sm90"], 1, "refused by the driver 580.159.04"),
        ([FP4, "--arch", "sm100"], 0, "8 rows of 128 bytes, 128 bytes apart; a copy counts 512 bytes"),
        ([FP4, "--arch", "sm103"], 0, "accepted for sm103"),
        ([FP4 + " address=16", "--arch", "sm100"], 1, "refused for sm100 by the rules of the driver 580.159.04"),
        ([FP4, FP4, "--arch", "sm90"], 1, "refused: the driver does not accept either map; tensorDataType"),
        (
            [FP4, FP4_LAYOUT, "--major", "K", "--unit", "bytes", "--arch", "sm90"],
            1,
            "the driver does not accept the map",
        ),
    ],
)
def test_the_answer_and_its_status(
    arguments: list[str], status: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tensor-map", *arguments]) == status
    captured = capsys.readouterr()
    assert line in captured.out
    assert captured.err == ""


@each(
    ("one", "against", "reason"),
    [
        (NARROW, [NARROW], "the driver does not accept either map; boxDim[0] is 128 bytes, wider than the 64 bytes"),
        (MAP, [NARROW], "the driver does not accept the second map; boxDim[0]"),
        (NARROW, [MAP], "the driver does not accept the first map; boxDim[0]"),
        (NARROW, ["S<2,3,3> o 0 o (64,64):(64,1)", "--major", "K"], "the driver does not accept the map; boxDim[0]"),
        (NARROW, ["0x8000402000010000", "--major", "K"], "the driver does not accept the map; boxDim[0]"),
        (FP4 + " address=16", [FP4], "the driver does not accept the first map; globalAddress is 16, which is not a"),
        (FP4.replace("box=128", "box=64"), [FP4], "the driver does not accept the first map; boxDim[0] is 64, but a "),
        (FP4, ["0x4000004000010000", "--major", "K", "--dtype", "e2m1_unpacksmem"], "which needs sm_100 or later"),
    ],
)
def test_a_refused_map_is_compared_as_one(
    one: str, against: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What never lands lands nowhere, whatever else is the same."""
    assert main(["tensor-map", one, *against]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("refused: ") and reason in first
    assert main(["tensor-map", one, *against, "--json"]) == 1
    assert reason.split("; ")[-1].split(" is ")[0] in str(json.loads(capsys.readouterr().out)["refusals"])


@each(
    ("arguments", "message"),
    [
        (["nonsense"], "'nonsense' is not a map; a map is written as NAME=VALUE arguments"),
        ([MAP, "0x4000404000010000"], "--major is missing"),
        ([MAP, "--base", "0"], "--base needs a word as AGAINST"),
        (
            [MAP, "0x4000004000010001", "--major", "K", "--mma", "64x16", "--base", "16"],
            "a box begins at 0x10 of shared memory, which is not a multiple of 128 bytes",
        ),
        ([MAP, "S<3,4,3> o 0 o (64,64):(64,1)", "--major", "K"], "if CuTe printed the layout, use --unit cute"),
        ([MAP, MAP, "--major", "K"], "--major needs a word or a layout as AGAINST"),
        ([MAP, "(64,64):(64,1)", "--major", "K", "--mma", "64x16"], "--shape needs a word as AGAINST"),
        ([MAP, "--arch", "sm75"], "sm75"),
        ([MAP, "(8,8):(8,1)", "--major", "K"], "the box, 64 x 64, does not fit in the layout"),
        (
            [MAP, "0x4000404000010000", "--major", "K", "--dtype", "e4m3"],
            "e4m3 has 8 bits, but the map's BFLOAT16 has 16",
        ),
        ([MAP.replace("bf16", "FLOAT64"), "0x4000404000010000", "--major", "K"], "no operand has FLOAT64 elements"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tensor-map", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in refusal(captured.err)
    assert captured.out == ""
    assert refusal(captured.err)


def test_json_has_every_argument_and_the_bytes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["tensor-map", MAP, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert (first["taken"], first["globalStrides"], first["transaction_bytes"]) == (True, [1024], 8192)
    monkeypatch.setattr("sys.stdin", io.StringIO(first["bytes"]))
    assert main(["tensor-map", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == first


@each(("arch", "taken", "written"), [("sm90", False, False), ("sm100", True, False)])
def test_json_of_one_map_has_the_verdict_of_the_architecture(
    arch: str, taken: bool, written: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """No driver was seen to write the bytes of a map that only Blackwell has."""
    assert main(["tensor-map", FP4, "--arch", arch, "--json"]) == (0 if taken else 1)
    answer = json.loads(capsys.readouterr().out)
    assert (answer["taken"], answer["bytes"] is not None) == (taken, written)
    assert (answer["transaction_bytes"] == 512) == taken
    assert ("not measured" in answer["evidence"]) == taken
