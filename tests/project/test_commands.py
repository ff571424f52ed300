"""The page of commands is what --help says, and no option is left without a word."""

from __future__ import annotations

import subprocess
import sys

import click
from each import each
from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from make_commands import PROGRAMS, every

COMMANDS = [(context.command_path, command) for program in PROGRAMS for context, command in every(program)]


def test_the_page_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/make_commands.py", "--check"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stdout) == (0, "docs/commands.md is up to date\n")


@each(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_command_and_option_says_what_it_is(name: str, command: click.Command) -> None:
    assert command.help
    assert [one.opts for one in command.params if isinstance(one, click.Option) and not one.help] == []
