"""What the README and the pages of docs/ show is what the commands print. (Their Python examples run as doctests.)"""

from __future__ import annotations

import re
import shlex
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from each import each
from places import ROOT

from descriptors.cli.command import main as descriptors
from layoutalg.cli.command import main as layoutalg

sys.path.insert(0, str(ROOT / "scripts"))
from refresh_pages import PROGRAMS, pages, run, sessions

MAINS = {"layoutalg": layoutalg, "descriptors": descriptors}

SHOWN = [
    pytest.param(command, output, id=f"{path.stem}: {command[:60]}")
    for path in pages()
    for command, output in sessions(path.read_text(encoding="utf-8"))
]


def printed(command: str) -> str:
    """What a command prints, here; a script is a process of its own."""
    program, *arguments = shlex.split(command)
    flag, name, *first = [*PROGRAMS[program], ""]
    if flag != "-m":
        return run(command)
    out, err = StringIO(), StringIO()
    with chdir(ROOT), redirect_stdout(out), redirect_stderr(err):
        MAINS[name]([*first[:-1], *arguments])
    return out.getvalue() + err.getvalue()


def test_the_pages_show_commands() -> None:
    assert len(SHOWN) >= 40


@each(("command", "output"), SHOWN)
def test_a_page_shows_what_the_command_prints(command: str, output: str) -> None:
    assert printed(command).rstrip("\n") == output.rstrip("\n")


@each("path", pages(), ids=lambda path: path.stem)
def test_a_command_can_be_copied_with_its_whole_line(path: Path) -> None:
    """What is said beside a command is a comment of the shell: else it would be taken for arguments."""
    typed = re.compile(
        r"^\s*(?:\$ )?(?:scripts/|\.venv/|python3 |layoutalg |descriptors )\S.*?\S {3,}(?P<remark>\S.*)$"
    )
    remarks = [told["remark"] for line in path.read_text(encoding="utf-8").splitlines() if (told := typed.match(line))]
    assert [remark for remark in remarks if not remark.startswith("#")] == []
