#!/usr/bin/env python3
"""Write docs/commands.md: every command of the two programs, as --help tells it.

Usage: python scripts/make_commands.py [--check]      --check only compares, and exits 1 if the page is out of date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402

PAGE = ROOT / "docs" / "commands.md"
PROGRAMS = ("layoutalg", "descriptors")
INTRODUCTION = """\
<!-- Written by scripts/make_commands.py. Do not edit. -->

# The commands

What `--help` says of every command. Answers go to standard output, refusals in one line to standard error; with
`--json` both are JSON on standard output.
"""


def every(program: str) -> Iterator[tuple[click.Context, click.Command]]:
    """Each command of a program, a group before its own commands, with the context in which it is asked for help."""
    group = import_module(f"{program}.cli.command").command
    yield from _below(group, _context(group, program, None))


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    settings = {"terminal_width": 80, "max_content_width": 80, **command.context_settings}
    return click.Context(command, info_name=name, parent=parent, **settings)


def _below(command: click.Command, context: click.Context) -> Iterator[tuple[click.Context, click.Command]]:
    yield context, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            one = command.get_command(context, name)
            assert one is not None, f"{context.command_path} {name}: a command that is listed must be there"
            yield from _below(one, _context(one, name, context))


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for program in PROGRAMS:
        for context, command in every(program):
            level = "##" if context.parent is None else "###"
            parts.append(f"{level} {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n")
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    """Write the page, or compare it."""
    return write_or_check(PAGE, page(), "make_commands.py", __doc__, arguments)


if __name__ == "__main__":
    end(main, sys.argv[1:])
