"""The command ``draw``: every kind in the terminal and in files; bad input is one line, and nothing half written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from each import each
from refusals import refusal

from descriptors import derive
from descriptors.cli.command import main
from descriptors.show.pictures.kinds import KINDS, picture

TILE = "--dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16 --arch sm100".split()
LARGE = [*TILE[:6], *"--tile 8192x8192 --mma 64x16 --capacity none".split()]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_told_written_and_recorded(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", kind, *TILE]) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    for suffix in ("svg", "tex", "txt", "html"):
        assert main(["draw", kind, *TILE, "-o", str(tmp_path / f"a.{suffix}")]) == 0
        assert capsys.readouterr().out == f"wrote {tmp_path / f'a.{suffix}'}\n"
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg ")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8").splitlines()[0][:20] == printed.splitlines()[0][:20]
    assert main(["draw", kind, *TILE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == kind


def test_all_writes_every_kind_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", "all", *TILE, "-o", str(tmp_path / "new" / "folder")]) == 0
    written = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    assert written == {*(f"{kind}.svg" for kind in KINDS), "tile_bank.svg", "index.html"}
    assert "wrote 10 pictures" in capsys.readouterr().out


def test_a_tile_that_no_box_fills_has_the_other_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tile = ["--dtype", "e3m2", "--major", "K", "--swizzle", "32B", "--tile", "192x96", "--mma", "64x32"]
    assert main(["draw", "all", *tile, "-o", str(tmp_path)]) == 0
    assert "left out boxes: tma: e3m2" in capsys.readouterr().out
    assert not (tmp_path / "boxes.svg").exists()


def test_of_a_huge_tile_what_can_be_drawn_is_drawn_and_the_rest_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tile = ["--dtype", "bf16", "--major", "K", "--swizzle", "128B", "--tile", "1024x1024", "--mma", "64x16"]
    assert main(["draw", "all", *tile, "--capacity", "none", "-o", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    written = {path.stem for path in tmp_path.glob("*.svg")}
    assert {"levels", "chunks", "word", "swizzle", "boxes"} <= written
    missing = {line.split()[2].rstrip(":") for line in out.splitlines() if line.startswith("left out")}
    assert missing and written | missing == {*KINDS, "tile_bank"} and not written & missing


@each(
    "arguments",
    [
        ["word", "0x4000404000010000", "--dtype", "bf16", "--major", "K"],
        ["word", "0x4000404000010000"],
        ["word", *TILE, "--subtile", "1,3", "--base", "0x1000"],
        ["diff", "0x4000402000010000", *TILE],
        ["swizzle", "--swizzle", "64B"],
        ["boxes", "--dtype", "bf16", "--major", "MN", "--swizzle", "64B", "--tile", "128x128x2", "--stage", "1"],
        ["banks", *TILE, "--access", "(32,8):(1,128)", "--access-bytes", "16", "--number", "0"],
        ["tile", *TILE, "--colour-by", "bank"],
        ["levels", "--dtype", "bf16", "--swizzle", "128B", "--layout", "((8,8),64):((64,512),1)", "--mma", "64x16"],
        ["chunks", "--dtype", "u8", "--major", "K", "--swizzle", "none", "--tile", "128x64", "--cp", "128x256b"],
        ["advance", *TILE[:-2], "--stages", "3", "--stage", "2"],
    ],
)
def test_whatever_derive_takes_is_drawn(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", *arguments]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shadow", *TILE], "'shadow' is not one of 'levels'"),
        (["tile", *TILE, "--colour-by", "red"], "supported: order, bank, atom"),
        (["levels", *TILE, "--colour-by", "bank"], "--colour-by needs tile"),
        (["levels", *TILE, "--stage", "1"], "the tile has no stage 1"),
        (["levels", *TILE, "--subtile", "9,9"], "mn of the subtile is 9, but the maximum is 1"),
        (["levels", *TILE, "--subtile", "1"], "which is not two numbers (mn, k)"),
        (["levels", "0x1", *TILE], "a descriptor, which only word and diff draw"),
        (["diff", *TILE], "diff needs the descriptor to compare"),
        (["all", *TILE], "all writes several files"),
        (["levels"], "--dtype is missing"),
        (["swizzle"], "--swizzle is missing"),
        (["levels", *TILE[:-4]], "--mma is missing"),
        (["levels", *TILE, "-o", "a.png"], "the name a.png does not end in .svg, .tex, .txt or .html"),
        (["levels", *TILE, "-o", "nowhere/a.svg"], "nowhere/a.svg cannot be written"),
        (["banks", *TILE, "--access", "(32,8"], "expected"),
        (["tile", *LARGE], "at most 65536 are drawn"),
        (
            ["levels", *TILE[:6], "--tile", "1048576x64", "--mma", "64x16", "--capacity", "none"],
            "atoms, but at most 16384 are drawn",
        ),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["draw", *arguments]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert refusal(error)
    assert message in error
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    occupied = tmp_path / "taken"
    occupied.write_text("a file")
    assert main(["draw", "all", *TILE, "-o", str(occupied)]) == 2
    assert "which cannot be written" in capsys.readouterr().err
    assert occupied.read_text() == "a file"


@pytest.mark.parametrize("name", ["index.html", "tile.svg", "levels.svg"])
def test_all_pictures_replace_no_file_that_they_did_not_write(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text("my own")
    assert main(["draw", "all", *TILE, "-o", str(tmp_path)]) == 2
    assert f"draw: error: {tmp_path / name} exists and was not written by this program" in capsys.readouterr().err
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [(name, "my own")]


def test_all_pictures_are_written_again_into_their_folder(tmp_path: Path) -> None:
    for _ in range(2):
        assert main(["draw", "all", *TILE, "-o", str(tmp_path)]) == 0
    assert (tmp_path / "tile.svg").exists() and (tmp_path / "index.html").exists()


def test_what_cannot_be_drawn_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    file = tmp_path / "a.svg"
    file.write_text("before")
    assert (
        main(
            ["draw", "tile", *TILE[:6], "--tile", "8192x8192", "--mma", "64x16", "--capacity", "none", "-o", str(file)]
        )
        == 2
    )
    assert file.read_text() == "before"
    assert os.listdir(tmp_path) == ["a.svg"]


def test_derive_writes_a_picture_beside_its_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "levels.svg"
    assert main(["derive", *TILE, "--draw", str(file)]) == 0
    assert f"wrote {file}" in capsys.readouterr().out
    assert "Four nested levels" in file.read_text(encoding="utf-8")
    assert main(["derive", *TILE, "--draw", str(tmp_path / "a.gif")]) == 2


@pytest.mark.parametrize("more", [[], ["--mma", "64x16"]], ids=["whole", "cut"])
@pytest.mark.parametrize("what", ["tile", "banks"])
def test_a_layout_that_no_word_reads_is_drawn_plainly(
    what: str, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows of 128 bytes side by side: what everybody calls unswizzled."""
    assert main(["draw", what, "--layout", "(64,64):(64,1)", "--dtype", "bf16", *more]) == 0
    out = capsys.readouterr().out
    assert "note: no descriptor reads this layout, so it is drawn without one, colored by bank" in out
    assert out.startswith("(64,64):(64,1)")
    assert main(["draw", "levels", "--layout", "(64,64):(64,1)", "--dtype", "bf16", *more]) == 2


def test_what_is_not_read_of_a_word_is_not_painted() -> None:
    """LBO of a K-major swizzled word: a white bar would be the first thing seen."""
    d = derive((128, 64), "bf16", "K", "128B", (64, 16), arch="sm90")
    line = next(line for line in picture(d, "word").text(color=True).splitlines() if "\x1b" in line)
    assert " 00000000000001 " in line and "48;5;254m" not in line
    assert line.count("\x1b[30;48;5;") == 4


@pytest.mark.parametrize("what", ["tile", "atoms", "banks", "boxes"])
def test_what_no_instruction_decides_is_drawn_without_one(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["draw", what, "--tile", "64x64", "--dtype", "bf16", "--swizzle", "128B", "--major", "K", "--json"]
    assert main(line) == 0
    alone = json.loads(capsys.readouterr().out)
    assert main([*line, "--mma", "64x16"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert alone.keys() == whole.keys()
    assert what != "boxes" or alone == whole
    assert main(["draw", "levels", *line[2:-1]]) == 2
    assert "--mma is missing" in capsys.readouterr().err


def test_an_unswizzled_tile_of_core_matrices_says_that_it_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("draw banks --tile 64x64 --dtype bf16 --swizzle none --major K".split()) == 0
    assert 'for a row-major tile use --layout "(64,64):(64,1)"' in capsys.readouterr().out
    assert main("draw banks --tile 64x64 --dtype bf16 --swizzle 128B --major K".split()) == 0
    assert "core matrices" not in capsys.readouterr().out


MARKED = ("derive --tile 64x64 --dtype bf16 --major K --swizzle 128B --mma 64x16 --draw", "draw tile {tile} -o",
          "plan m64n64k16 bf16 --tile 64x64x64 --draw", "plan mma.m16n8k16 bf16 --tile 64x64x64 --draw",
          "tmem accumulator --m 128 --n 64 --draw")  # fmt: skip


@each("suffix", [".svg", ".tex", ".txt", ".html"])
@each("command", MARKED)
def test_a_picture_replaces_pictures_and_no_file_that_this_program_did_not_write(
    command: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"a{suffix}"
    typed = [*command.format(tile=" ".join(TILE)).split(), str(path)]
    path.write_text("my own")
    capsys.readouterr()
    assert main(typed) == 2
    reason = "was not written by this program"
    if suffix == ".txt":
        reason = "has other content, and a text does not show whether this program wrote it"
    captured = capsys.readouterr()
    assert (
        captured.out == "" and refusal(captured.err) == f"{path} exists and {reason}; give another path, or remove it"
    )
    assert path.read_text() == "my own"
    path.write_text("")
    assert [main(typed), main(typed)] == [0, 0]
    assert path.stat().st_size > 100
    capsys.readouterr()
    path.write_bytes(picture(derive((128, 128), "bf16", "K", "128B", (64, 16)), "atoms").html().encode())
    assert main(typed) == 0  # another picture of this program
