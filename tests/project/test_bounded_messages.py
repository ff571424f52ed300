"""However long an argument is, the message that refuses it is short: each option and argument of both programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from layoutalg.messages import MOST_OF_A_MESSAGE, shortened

PROGRAMS = ("descriptors", "layoutalg")
#: Commands that do not end by themselves.
SERVERS = ("mcp", "explore")
LONG = 20_000


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if (one := command.get_command(context, name)) is not None and name not in SERVERS:
                yield from commands(one, (*path, name))
    else:
        yield path, command


def calls(command: click.Command, long: str) -> Iterator[list[str]]:
    """Calls with a long argument at every place of a command."""
    yield from ([long], ["x", long], [long, long], [f"--{long}"])
    for one in command.params:
        if isinstance(one, click.Option) and not one.is_flag:
            yield [one.opts[0], long]


@pytest.mark.parametrize("length", [LONG, pytest.param(10 * LONG, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("text", ["x", "1,", "(", "9"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_refusal_repeats_little_of_a_long_argument(
    program: str,
    text: str,
    length: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)  # a file that one of them writes stays there
    main, group = (getattr(import_module(f"{program}.cli.command"), name) for name in ("main", "command"))
    long, refused = (text * length)[:length], 0
    for path, command in [((), group), *commands(group)]:
        for words in [[*path, *call] for call in calls(command, long)]:
            status = main(words)
            told = capsys.readouterr()
            shown = [word[:20] for word in words]
            assert len(told.err) <= 3 * MOST_OF_A_MESSAGE, shown
            if status >= 2:
                refused += 1
                assert len(told.out) <= 3 * MOST_OF_A_MESSAGE, shown
    assert refused > 100 if program == "descriptors" else refused > 40


@pytest.mark.parametrize("words", [["decode"], ["derive", "--tile"], ["schema"], ["nosuch"]])
def test_so_does_a_refusal_in_json(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    from descriptors.cli.command import main

    assert main([*words, "x" * LONG, "--json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert 0 < len(answer["error"]["message"]) < MOST_OF_A_MESSAGE + 100


def test_a_short_message_stays_as_it_is_and_a_long_one_keeps_its_ends() -> None:
    assert shortened("x" * MOST_OF_A_MESSAGE) == "x" * MOST_OF_A_MESSAGE
    cut = shortened("begin " + "x" * LONG + " end")
    assert cut.startswith("begin x") and cut.endswith("x end") and len(cut) < MOST_OF_A_MESSAGE + 60
