"""The command `descriptors atlas`: a bar while it runs where standard error is a terminal, and none elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT
from refusals import refuses

from descriptors.cli import main

pty = pytest.importorskip("pty", reason="terminals are those of POSIX")

ARGUMENTS = ["--tile", "64:128:64x64", "--mma", "64xauto", "--dtype", "bf16", "--arch", "sm90"]


def on_a_terminal(*arguments: str) -> tuple[str, str]:
    """What the command writes to standard output, and to a terminal as its standard error."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "descriptors", "atlas", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True, cwd=ROOT) as running:
        os.close(theirs)
        terminal = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # how Linux says that the other end is closed
                break
            if not piece:
                break
            terminal += piece
        os.close(ours)
        out, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    return out, terminal.decode()


def test_a_terminal_sees_a_bar_that_ends_full(tmp_path: Path) -> None:
    out, printed = on_a_terminal(str(tmp_path / "rows.jsonl"), *ARGUMENTS)
    assert out.startswith("proved 32, refused 8; 0 skipped; ")
    assert "atlas" in printed and "100%" in printed
    assert out.count("\n") == 1 and "%" not in out


def test_quiet_leaves_the_terminal_alone(tmp_path: Path) -> None:
    out, printed = on_a_terminal(str(tmp_path / "rows.jsonl"), *ARGUMENTS, "--quiet")
    assert (out[:6], printed) == ("proved", "")


@pytest.mark.parametrize("options", [[], ["--quiet"]], ids=" ".join)
def test_a_file_sees_no_bar(options: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "descriptors", "atlas", str(tmp_path / "rows.jsonl"), *ARGUMENTS, *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert (done.stdout[:6], done.stderr) == ("proved", "")


@pytest.mark.parametrize(
    ("output", "reason"), [("no/rows.jsonl", "No such file or directory"), ("a.jsonl", "Is a dir")]
)
def test_an_output_that_cannot_be_opened_is_refused_with_what_it_must_be(
    output: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").mkdir()
    assert main(["atlas", str(tmp_path / output), *ARGUMENTS]) == 2
    message = capsys.readouterr().err
    assert refuses(message, f"atlas: cannot open the output {tmp_path / output}: {reason}")
