"""What the README shows is what the commands print. (Its Python examples run as doctests.)"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# How a command of the README is run here: by this Python, without making an environment.
PROGRAMS = {
    "layoutalg": ["-m", "layoutalg"],
    "descriptors": ["-m", "descriptors"],
    "scripts/derive": ["-m", "descriptors", "derive"],
}


def sessions() -> list[tuple[str, str]]:
    """Every command shown with its output."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            if shlex.split(command)[0] in PROGRAMS:
                found.append((command, output))
    return found


def test_the_readme_shows_commands() -> None:
    assert len(sessions()) >= 5


@pytest.mark.parametrize(("command", "output"), sessions(), ids=lambda value: value[:50].splitlines()[0])
def test_the_readme_shows_what_the_command_prints(command: str, output: str) -> None:
    program, *arguments = shlex.split(command)
    done = subprocess.run(
        [sys.executable, *PROGRAMS[program], *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.stdout + done.stderr).rstrip("\n") == output.rstrip("\n")
