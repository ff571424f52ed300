"""`-` in place of a file to write: standard output, or a refusal in a line; nobody makes a file of that name."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
from places import ROOT
from programs import ANSWERED as LINES
from programs import COMMANDS, TILE
from refusals import refusal

from descriptors.cli.command import main as descriptors
from layoutalg import Layout, draw
from layoutalg.cli.command import main as layoutalg

MAINS = {"descriptors": descriptors, "layoutalg": layoutalg}
MMA = ["--mma", "64x16"]
PLAN = ["plan", *LINES["descriptors"]["plan"]]
HANG = str(ROOT / "docs/kernels/hang.ptx")
SHIFT = "--height 9 --width 9 --channels 16 --filters 16 --taps 3x3 --padding 1x1".split()
#: The commands of tensor memory that draw, each with what it is asked.
TMEM = [
    ["shift", *SHIFT],
    ["accumulator", "--m", "128", "--n", "64"],
    ["plan", "--m", "128", "--n", "64", "--k", "16"],
    ["operand", "--m", "128", "--k", "64", "--dtype", "bf16"],
    ["metadata", "--m", "128", "--k", "32", "--dtype", "bf16"],
    ["ld", "16x256b.x8"],
    ["cp", "128x256b"],
    ["scale-factors", "--mn", "128", "--k", "64", "--vector", "16"],
    ["block-scaled", "--a", "e2m1", "--scale-dtype", "ue4m3", "--m", "128", "--n", "8", "--k", "64"],
]

#: Every line of a command that writes to standard output for ``-``, and what that begins with.
ANSWERED = [
    ("layoutalg", ["draw", "(2,2):(2,1)", "-o", "-"], "<svg "),
    ("descriptors", ["draw", "levels", *TILE, *MMA, "-o", "-"], "<svg "),
    ("descriptors", ["draw", "swizzle", "--swizzle", "64B", "-o", "-"], "<svg "),
    ("descriptors", ["explore", "--html", "-"], "<!doctype html>"),
]
#: Every line of a command that refuses ``-``, with words of the way out.
REFUSED = [
    ("layoutalg", ["draw", "4:1", "-o", "-", "--json"], "both write to standard output"),
    ("descriptors", ["draw", "levels", *TILE, *MMA, "-o", "-", "--json"], "both write to standard output"),
    ("descriptors", ["draw", "all", *TILE, *MMA, "-o", "-"], "use -o DIR"),
    ("descriptors", ["draw", "all", *TILE, *MMA, "-o", ""], "use -o DIR"),
    ("descriptors", ["explore", "--site", "-", "--pyodide", "pyodide"], "--site needs a folder, not -"),
    ("descriptors", ["derive", *TILE, *MMA, "--draw", "-"], "does not end in .svg, .tex, .txt or .html"),
    ("descriptors", ["derive", *TILE, *MMA, "--certificate", "-"], "does not end in .v"),
    ("descriptors", [*PLAN, "--draw", "-"], "does not end in .svg, .tex, .txt or .html"),
    ("descriptors", ["explain", HANG, "--draw", "-"], "does not end in .svg, .tex, .txt or .html"),
    *(("descriptors", ["tmem", *line, "--draw", "-"], "does not end in .svg, .tex, .txt or .html") for line in TMEM),
    ("descriptors", ["check", "docs/kernels/pipeline.ptx", "--write-baseline", "-"], "--write-baseline needs a path"),
    ("descriptors", ["atlas", "-", "--tile", "64x64", "--dtype", "bf16"], "does not end in .jsonl"),
]
#: The scripts that write where they are told.
SCRIPTS = [["build_course", "-"], ["bench_gemm", "--json", "-"], ["mutants.py", "--json", "-"]]


@pytest.mark.parametrize(("program", "line", "begins"), ANSWERED)
def test_a_file_called_minus_is_standard_output(
    program: str,
    line: list[str],
    begins: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert MAINS[program](line) == 0
    told = capsys.readouterr()
    assert told.out.startswith(begins) and told.err == "" and not list(tmp_path.iterdir())
    if begins == "<svg ":
        ElementTree.fromstring(told.out)  # nothing but the picture


def test_it_is_the_picture_that_a_file_would_hold(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert layoutalg(["draw", "(2,2):(2,1)", "-o", "-"]) == 0
    told = capsys.readouterr().out
    draw(Layout((2, 2), (2, 1))).save(tmp_path / "a.svg")
    assert told == (tmp_path / "a.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(("program", "line", "way_out"), REFUSED)
def test_or_it_is_refused_in_a_line(
    program: str,
    line: list[str],
    way_out: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert MAINS[program](line) == 2
    told = capsys.readouterr()
    if "--json" in line:
        assert way_out in json.loads(told.out)["error"]["message"] and told.err == ""
    else:
        assert way_out in refusal(told.err) and told.out == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", SCRIPTS, ids=lambda line: line[0])
def test_a_script_refuses_it_too(line: list[str], tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / line[0]), *line[1:]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2 and done.stderr.endswith(
        "must be a path, found -, and standard output has the report\n"
    )
    assert not list(tmp_path.iterdir())


def options(command: click.Command, name: str) -> Iterator[tuple[str, click.Option]]:
    """Every option of a command and of its subcommands, each with the name of its command."""
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for one in command.list_commands(context):
                yield from options(command.get_command(context, one) or command, f"{name} {one}")
    yield from ((name, one) for one in command.params if isinstance(one, click.Option))


def test_these_are_all_that_write() -> None:
    """Whoever adds an option whose help says that it writes adds a line above."""
    found = set()
    for program, name in COMMANDS:
        commands = import_module(import_module(f"{program}.cli.command").COMMANDS[name][0]).commands
        for where, option in options(next(one for one in commands if one.name == name), name):
            free = not option.is_flag and not isinstance(option.type, click.Choice)
            language = option.opts[0] == "--emit"  # of a text that is printed
            if free and not language and re.search(r"\b[Ww]rites?\b", option.help or ""):
                found.add((where, option.opts[0]))
    tried = {
        (where, option)
        for where, option in found
        for _, line, _ in ANSWERED + REFUSED
        if " ".join(line).startswith(where) and option in line
    }
    assert found == tried and len(found) == 17
