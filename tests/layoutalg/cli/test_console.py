"""The console: how every program ends, whatever happens to its input, its output, or the machine."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from each import each
from places import ROOT
from programs import ANSWERED, COMMANDS, NEEDS_FULL, NEEDS_POSIX, all_unread, closed_pipe

from descriptors.cli.command import COMMANDS as OF_DESCRIPTORS
from descriptors.cli.command import main as descriptors
from layoutalg.cli.command import COMMANDS as OF_LAYOUTALG
from layoutalg.cli.command import main as layoutalg
from layoutalg.cli.console import NotThereError, Status, run
from layoutalg.errors import LayoutError

MAINS = {"descriptors": descriptors, "layoutalg": layoutalg}


def program(outcome: object) -> click.Command:
    """A command that says a word, then raises or returns what it is given."""

    @click.command()
    def command() -> object:
        click.echo("said")
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return command


def arguments(name: str, command: str, folder: Path) -> list[str]:
    return [command, *([str(folder / "rows.jsonl")] if command == "atlas" else []), *ANSWERED[name][command]]


@each(
    ("outcome", "status", "line"),
    [
        (None, 0, ""),
        (Status.ANSWER, 0, ""),
        (Status.DIFFERENCE, 1, ""),
        (click.exceptions.Exit(1), 1, ""),
        (click.UsageError("no such thing"), 2, "tool: error: no such thing\n  help: see `tool --help`\n"),
        (LayoutError("eval: must be\n one line"), 2, "tool: error: eval: must be one line\n"),
        (
            OSError(28, "No space left on device"),
            2,
            "tool: error: [Errno 28] No space left on device: standard output\n",
        ),
        (UnicodeEncodeError("ascii", "é", 0, 1, "not in range"), 2, None),
        (NotThereError("the GPU is not there"), 3, "tool: error: the GPU is not there\n"),
        (KeyboardInterrupt(), 130, "\n"),
        (click.Abort(), 130, "\n"),
        (BrokenPipeError(), 0, ""),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_way_to_end_has_its_status_and_its_line(
    outcome: object, status: int, line: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(program(outcome), "tool", [LayoutError], []) == status
    err = capsys.readouterr().err
    assert err == line or (line is None and err.startswith("tool: error: 'ascii' codec") and err.count("\n") == 1)


def test_an_error_that_nobody_foresaw_stays_one() -> None:
    with pytest.raises(ZeroDivisionError):
        run(program(ZeroDivisionError()), "tool", [LayoutError], [])


def test_the_table_of_commands_has_a_line_here_for_each() -> None:
    assert set(ANSWERED["descriptors"]) == set(OF_DESCRIPTORS)
    assert set(ANSWERED["layoutalg"]) == set(OF_LAYOUTALG)


@each(("name", "command"), COMMANDS)
def test_each_of_these_lines_is_answered(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert MAINS[name](arguments(name, command, tmp_path)) == 0
    streams = capsys.readouterr()
    assert streams.out.endswith("\n") and streams.err == ""


@NEEDS_POSIX
def test_a_reader_that_is_gone_is_no_error(tmp_path: Path) -> None:
    lines = [(name, arguments(name, command, tmp_path)) for name, command in COMMANDS]
    lines += [(name, options) for name in MAINS for options in (["--help"], ["--version"], [])]
    *ends, refused = all_unread([*lines, ("layoutalg", ["eval", "("])])
    assert [(line, end) for line, end in zip(lines, ends, strict=True) if end != (0, "")] == []
    assert refused[0] == 2 and refused[1].startswith("layoutalg eval: error: ")


@pytest.mark.parametrize("name", MAINS)
def test_nor_where_the_program_is_a_process_of_its_own(name: str) -> None:
    ended = closed_pipe(name, "--help")
    assert (ended.returncode, ended.stderr) == (0, "")


@NEEDS_POSIX
def test_a_reader_that_leaves_in_the_middle_is_no_error_either() -> None:
    line = "read 0x4000404000010000 --dtype bf16 --major K --shape 1024x1024 --all"
    command = f"{sys.executable} -m descriptors {line} | head -n 1; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("read model: ") and ended.stdout.count("\n") == 1


@NEEDS_FULL
@pytest.mark.parametrize(("name", "line"), [("descriptors", "shapes"), ("layoutalg", "ops")])
def test_a_full_disk_is_told_in_one_line(name: str, line: str) -> None:
    command = f"{sys.executable} -m {name} {line} > /dev/full"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ended.returncode, ended.stderr) == (
        2,
        f"{name} {line}: error: [Errno 28] No space left on device: standard output\n",
    )


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_pipe_and_a_file_hold_utf_8_whatever_the_system_writes(encoding: str, tmp_path: Path) -> None:
    line = ["draw", "levels", "--dtype", "bf16", "--major", "K", "--swizzle", "64B", "--tile", "64x64"]
    line += ["--mma", "64x16", "--arch", "sm90", "-o"]
    assert descriptors([*line, str(tmp_path / "levels.svg")]) == 0
    command = [sys.executable, "-m", "descriptors", *line, "-"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, capture_output=True, cwd=ROOT, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode("utf-8").rstrip() == (tmp_path / "levels.svg").read_text(encoding="utf-8").rstrip()
    assert not done.stdout.isascii()


def test_what_was_said_before_the_output_failed_is_dropped_and_the_stream_goes_on() -> None:
    code = """
import click
from layoutalg.cli.console import run, say
@click.command()
def command():
    say("half an answer")
    raise OSError("the disk is gone")
print("after", run(command, "tool", [], []))
"""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=buffered, check=False)
    assert (ended.stdout, ended.stderr) == ("after 2\n", "tool: error: the disk is gone\n")


@NEEDS_POSIX
@pytest.mark.parametrize(
    ("name", "line", "closed", "message"),
    [
        ("layoutalg", "eval -", "<&-", "layoutalg eval: error: standard input is closed"),
        ("descriptors", "check -", "<&-", "<stdin>: error: standard input is closed"),
        ("descriptors", "explain -", "<&-", "descriptors explain: error: standard input is closed"),
        ("layoutalg", "ops", ">&-", "layoutalg ops: error: standard output is closed"),
        ("layoutalg", "show 4:1", ">&-", "layoutalg show: error: standard output is closed"),
        ("descriptors", "shapes", ">&-", "descriptors shapes: error: standard output is closed"),
        ("layoutalg", "eval '('", "2>&-", ""),
        ("descriptors", "derive", "2>&-", ""),
    ],
)
def test_a_stream_that_is_closed_is_said_where_that_can_be(name: str, line: str, closed: str, message: str) -> None:
    command = f"exec {sys.executable} -m {name} {line} {closed}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert (ended.returncode, ended.stdout, ended.stderr.strip()) == (2, "", message)


def test_where_python_drops_docstrings_the_list_of_operations_says_so() -> None:
    for arguments in ([], ["coalesce"]):
        command = [sys.executable, "-OO", "-m", "layoutalg", "ops", *arguments]
        out = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout
        assert "(no documentation: Python runs with -OO)" in out


@pytest.mark.parametrize("typed", [["--json"], ["--format", "json"], ["--format=json"]], ids=" ".join)
@pytest.mark.parametrize(
    ("outcome", "status", "error"),
    [
        (
            LayoutError("eval: must be\n one line"),
            2,
            {"type": "LayoutError", "message": "eval: must be one line", "fact": "eval: must be one line"},
        ),
        (
            click.UsageError("no such thing"),
            2,
            {
                "type": "UsageError",
                "message": "no such thing; see `tool --help`",
                "fact": "no such thing",
                "help": ["see `tool --help`"],
            },
        ),
        (NotThereError("no GPU"), 3, {"type": "NotThereError", "message": "no GPU", "fact": "no GPU"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_refusal_is_json_where_the_answer_was_to_be(
    outcome: Exception, status: int, error: dict[str, Any], typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    @click.command(context_settings={"ignore_unknown_options": True})
    @click.argument("rest", nargs=-1)
    def command(rest: tuple[str, ...]) -> None:
        raise outcome

    assert run(command, "tool", [LayoutError], typed) == status
    streams = capsys.readouterr()
    assert (json.loads(streams.out), streams.err) == ({"schema": 1, "error": {"notes": [], "help": [], **error}}, "")


@NEEDS_FULL
@pytest.mark.parametrize("name", MAINS)
def test_a_refusal_on_a_full_disk_keeps_its_status(name: str) -> None:
    command = f"{sys.executable} -m {name} nosuch --json > /dev/full"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ended.returncode, ended.stderr) == (2, "")


def test_the_help_says_what_a_command_of_another_package_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert layoutalg(["--help"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert "lessons" in lines["course"] and "coding agent" in lines["mcp"]


def test_the_help_imports_no_other_package() -> None:
    program = (
        "import sys; from layoutalg.cli.command import main; main(['--help']); print('descriptors' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")


def test_a_program_that_runs_again_in_one_process_keeps_the_threshold_of_the_garbage_collector(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["program"])
    before = gc.get_threshold()
    try:
        thresholds = [(run(program(None), "program"), gc.get_threshold()) for _ in range(5)]
    finally:
        gc.set_threshold(*before)
    assert {status for status, _ in thresholds} == {0}
    assert len(set(thresholds)) == 1
