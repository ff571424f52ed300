"""The command `descriptors chain`: links typed, and a file; the verdict, its status, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from each import each
from places import ROOT
from refusals import refusal, refuses

from descriptors.cli.command import main

TMA = "tma type=bf16 extents=512x256 strides=1024 box=64x128 swizzle=128B"
LAYOUT = "layout S<3,3,3> o 0 o (128,64):(64,1)"
WORD = "word 0x4000004000010000 mma=64x16 advance=(2,4):(512,2)"
TILE = ["--tile", "128x64"]
FILE = """\
dtype = "bf16"
tile = "128x64"
links = [
  "tma type=bf16 extents=512x256 strides=1024 box=64x128 swizzle=128B",
  "layout S<3,3,3> o 0 o (128,64):(64,1)",
  "word 0x4000004000010000 mma=64x16 advance=0,512;0,2,4,6",
]
"""


@each(
    ("arguments", "status", "said"),
    [
        ([TMA, LAYOUT, WORD, *TILE], 0, "proved: 8192 elements through tma, layout, word\n"),
        (
            [TMA.replace("128B", "none"), LAYOUT, *TILE],
            1,
            "wrong: link 2, layout: tma puts (1,0) at byte 0x80, layout has",
        ),
        ([TMA, LAYOUT.replace("(64,1)", "(1,128)"), *TILE], 1, "wrong: link 2, layout: tma puts (0,1) at byte 0x2"),
        ([TMA, WORD.replace("4000010000", "2000010000"), *TILE], 1, "word reads it from byte 0x240, where (4,0) is"),
        ([TMA, LAYOUT, "ldmatrix.x4 warps=4x1", *TILE], 0, "incomplete: link 3, ldmatrix.x4, no later link says"),
        ([TMA, LAYOUT, "ldmatrix.x4 warps=4x1", *TILE, "--strict"], 1, "incomplete: link 3"),
    ],
)
def test_the_verdict_and_its_status(
    arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["chain", *arguments]) == status
    out, err = capsys.readouterr()
    assert said in out and err == ""


def test_a_file_and_standard_input_say_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.toml").write_text(FILE)
    assert main(["chain", str(tmp_path / "a.toml")]) == 0
    told = capsys.readouterr().out
    assert told == (
        "proved: 8192 elements through tma, layout, word\n"
        "   128x64\n"
        "   1  tma     box 64x128, swizzle 128B             moves\n"
        "   2  layout  S<3,3,3> o 0 o (128,64):(64,1)       agrees\n"
        "   3  word    0x4000004000010000, blocks of 64x16  agrees\n"
        "known: measured on a Hopper GPU\n"
    )
    assert main(["chain", TMA, LAYOUT, WORD, *TILE]) == 0
    assert capsys.readouterr().out == told


def test_json_has_both_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chain", TMA, LAYOUT, WORD.replace("(512,2)", "(512,4)"), *TILE, "--json"]) == 1
    kept = json.loads(capsys.readouterr().out)
    link = kept["legs"][0]["links"][2]
    assert (kept["verdict"], link["verdict"], link["compared"]) == ("wrong", "wrong", 8192)
    assert link["first"]["element"] == [0, 16]
    assert (link["first"]["lies"], link["first"]["expected"]) == ("at byte 0x20", "from byte 0x40")
    assert (link["first"]["left"], link["first"]["right"], link["first"]["other"]) == ("layout", "word", "(0,32)")


def test_what_sm100_does_is_said_to_be_unmeasured(capsys: pytest.CaptureFixture[str]) -> None:
    links = ["accumulator 128x64", "tcgen05.ld.16x256b.x2", "convert bf16", "stmatrix.x4 warps=4x1", LAYOUT, TMA]
    assert main(["chain", *links, *TILE, "--dtype", "f32"]) == 0
    assert "known: documented, not measured on a Blackwell GPU; that a TMA store takes" in capsys.readouterr().out
    assert main(["chain", TMA, WORD, *TILE, "--arch", "sm100"]) == 0  # the word has version 0, as kernels in use do
    assert "warning: link 2, word: version: PTX requires 1 in an sm100 word, found 0" in capsys.readouterr().out


@each(
    ("arguments", "said"),
    [
        ([TMA], "--tile is missing"),
        (["no.toml"], "chain: 'no.toml' does not exist"),
        (["a.toml", *TILE], "--tile needs links on the command line; in a file, write tile = ..."),
        (["layuot", *TILE], "did you mean layout?"),
        ([LAYOUT, "--tile", "128"], "tile '128' is not 2 extents like 128x64"),
        ([LAYOUT, *TILE, "--dtype", "bf17"], "did you mean bf16?"),
    ],
)
def test_a_refusal_is_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chain", *arguments]) == 2
    err = capsys.readouterr().err
    assert refuses(err, said)


def test_the_examples_of_its_help_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chain", TMA, LAYOUT, WORD, *TILE]) == 0
    links = ["accumulator 128x64", "tcgen05.ld.32x32b.x32", "convert bf16", "stmatrix.x4 warps=4x1", LAYOUT]
    assert main(["chain", *links, *TILE, "--dtype", "f32"]) == 1
    assert (
        "tcgen05.ld.32x32b.x32 leaves (0,2) in value 2 of thread 0, stmatrix.x4 takes it from value 0 of thread 1"
        in (capsys.readouterr().out)
    )


def test_the_recipe_of_the_cookbook_shows_the_file_that_it_runs() -> None:
    assert (ROOT / "docs" / "examples" / "chain.toml").read_text() in (ROOT / "docs" / "cookbook.md").read_text()


def test_the_refusal_of_a_box_larger_than_the_tile_names_the_tile_that_is_the_box(
    capsys: pytest.CaptureFixture[str],
) -> None:
    box = "tma type=bf16 extents=512x256 strides=1024 box=64x128 swizzle=128B"
    assert main(["chain", "--tile", "64x64", box, "layout S<3,3,3> o 0 o (64,64):(64,1)"]) == 2
    message = refusal(capsys.readouterr().err)
    fact = "the box of 64x128 (fastest dimension first) is larger than the tile of 64x64; a tile of 128x64 is the"
    assert fact in message
    assert "boxes=" not in message
    assert main(["chain", "--tile", "128x64", box, "layout S<3,3,3> o 0 o (128,64):(64,1)"]) == 0
