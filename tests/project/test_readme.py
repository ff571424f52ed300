"""What the README shows is what the commands print. (Its Python examples run as doctests.)"""

from __future__ import annotations

import sys

import pytest
from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from refresh_readme import run, sessions

SHOWN = sessions((ROOT / "README.md").read_text(encoding="utf-8"))


def test_the_readme_shows_commands() -> None:
    assert len(SHOWN) >= 15


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=lambda value: value[:50].splitlines()[0] if value else "")
def test_the_readme_shows_what_the_command_prints(command: str, output: str) -> None:
    assert run(command).rstrip("\n") == output.rstrip("\n")
