"""`layoutalg draw`: into the terminal and into files, and bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from drawn import read
from refusals import refuses

from layoutalg import Layout, draw
from layoutalg.cli.command import main


@pytest.mark.parametrize("suffix", ["svg", "tex", "txt", "html"])
def test_a_file_is_written_and_named(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"a.{suffix}"
    assert main(["draw", "(2,3):(3,1)", "-o", str(path)]) == 0
    assert capsys.readouterr() == (f"wrote {path}\n", "")
    draw(Layout((2, 3), (3, 1))).save(tmp_path / f"b.{suffix}")
    assert path.read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    path.unlink()
    assert main(["draw", "4:1", "-o", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"schema": 1, "written": str(path)}


@pytest.mark.parametrize("suffix", ["svg", "tex", "txt", "html"])
def test_a_file_that_this_program_did_not_write_is_not_replaced(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text("<svg>my own</svg>")
    assert main(["draw", "4:1", "-o", str(path)]) == 2
    reason = "has other content" if suffix == "txt" else "was not written by this program"
    assert f"exists and {reason}" in capsys.readouterr().err
    assert path.read_text() == "<svg>my own</svg>"
    draw(Layout(4)).save(path)  # a program that saves a picture asks for it
    assert main(["draw", "4:1", "-o", str(path)]) == 0
    if suffix != "txt":  # a text has no mark
        assert main(["draw", "8:1", "-o", str(path)]) == 0


def test_every_option_reaches_the_picture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = "draw (4,4):(4,1) --color-by bank --label index --element-bytes 4 --level 2x2 --title Words --json"
    assert main(command.split()) == 0
    data = json.loads(capsys.readouterr().out)
    expected = draw(Layout((4, 4), (4, 1)), "bank", "index", element_bytes=4, levels=[(2, 2)], title="Words").record()
    assert data == {"schema": 1, **json.loads(json.dumps(expected))}
    path = tmp_path / "a.svg"
    assert main(["draw", "(4,4)", "-o", str(path)]) == 2
    assert main(["draw", "flat_divide((4,4):(4,1), (2,2))", "--before", "(4,4):(4,1)", "-o", str(path)]) == 0
    assert read(path.read_text(encoding="utf-8")).title == "The same cells, before and after"
    assert main(["draw", "(4,2):(1,4)", "--access", "(4,2):(1,4)", "-o", str(path)]) == 0
    assert "T3 V1" in path.read_text(encoding="utf-8")


def test_a_fragment_is_drawn_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for command in (
        "draw mma.m16n8k16.C --title none",
        "draw (16,8):(1,16) --access mma.m16n8k16.C --title none",
        "draw (16,8):(1,16) --access ((4,8),(2,2)):((32,1),(16,8)) --title none",
    ):
        assert main(command.split()) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] == texts[2]
    assert main(["draw", "(8,8)", "--access", "mma.m16n8k16.C"]) == 2


def test_without_a_file_the_picture_is_text_without_colour_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", "(2,2):(2,1)"]) == 0
    assert capsys.readouterr().out == str(draw(Layout((2, 2), (2, 1)))) + "\n"


def test_a_terminal_gets_colours_unless_it_asked_for_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    main(["draw", "(2,2):(2,1)", "--colour-by", "thread"])
    assert "\x1b[30;48;5;153m 0\x1b[0m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    main(["draw", "(2,2):(2,1)", "--colour-by", "thread"])
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["(4,4):(1,4)", "--colour-by", "red"], "'red' is not one of 'offset', 'bank',"),
        (["(4,4):(1,4)", "--label", "red"], "'red' is not one of 'offset', 'index',"),
        (["(4,4):(1,4)", "--colour-by", "bank"], "draw: banks depend on the bytes per element"),
        (["(4,4):(1,4)", "--level", "8"], "'8' is not ROWSxCOLUMNS, such as 8x64"),
        (["(4,4):(1,4)", "--level", "0x8"], "draw: the number of rows of a level is 0, which is not positive"),
        (["(4,4):(1,4)", "-o", "a.png"], "save: the name a.png does not end in .svg, .tex, .txt or .html"),
        (
            ["(4,4):(1,4)", "-o", "/nosuch/a.svg"],
            "save: /nosuch/a.svg cannot be written: No such",
        ),
        (["(1024,1024):(1,1024)", "-o", "a.svg"], "1024 rows of 1024 columns in 1 table, more than 262144 cells"),
        (["(1024,1024):(1,1024)", "--json"], "more than 262144 cells"),
        (["(4,4):(1,4)", "--access", "(4,5):(1,4)"], "is element 16, and the tile has 16 elements"),
        (["(4,4):(1,4)", "--access", "4:1"], "draw: thread_values 4:1 do not have two modes (threads, values)"),
        (["(4,4):(1,4)", "--before", "7"], "draw: 7 is not a layout"),
        (["S<3,4,3>"], "draw: S<3,4,3> is not a layout"),
    ],
)
def test_bad_input_is_one_line_and_writes_no_file(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["draw", *arguments]) == 2
    streams = capsys.readouterr()
    assert refuses(streams.err, message) if streams.err else message in json.loads(streams.out)["error"]["message"]
    assert list(tmp_path.iterdir()) == []
