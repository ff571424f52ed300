"""What the README and the pages of docs/ show is what the commands print. (Their Python examples run as doctests.)"""

from __future__ import annotations

import sys

import pytest
from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from refresh_pages import pages, run, sessions

SHOWN = [
    pytest.param(command, output, id=f"{path.stem}: {command[:60]}")
    for path in pages()
    for command, output in sessions(path.read_text(encoding="utf-8"))
]


def test_the_pages_show_commands() -> None:
    assert len(SHOWN) >= 40


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_a_page_shows_what_the_command_prints(command: str, output: str) -> None:
    assert run(command).rstrip("\n") == output.rstrip("\n")
