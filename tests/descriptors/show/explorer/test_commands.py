"""The command line that a page offers gives what the page shows."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from descriptors.cli import main
from descriptors.show.explorer.answer import answer
from descriptors.show.explorer.page import PRESETS

CASES = [preset["question"] for preset in PRESETS] + [
    {"tile": "128x64", "cell": "70,21", "base": "2048"},
    {"mma": "m64n128k16", "operand": "B", "tile": "128x64"},
]


@pytest.mark.parametrize("body", CASES, ids=str)
def test_the_command_derives_the_word_that_is_shown(
    body: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    reply = answer({**body, "want": ["told", "edited"]})
    lines = {one["what"]: one["line"] for one in reply["told"]["commands"]}
    for what, line in lines.items():
        program, *arguments = shlex.split(line)
        assert program == "descriptors"
        status = main(arguments)
        printed = capsys.readouterr().out
        if what == "the derivation of the tile":
            assert (status, reply["told"]["first"] in printed) == (0, True)
        elif what == "the descriptor of this subtile":
            assert (status, reply["told"]["word"] in printed) == (0, True)
        elif what == "the picture":
            assert (status, len(list(tmp_path.glob("*.svg")))) == (0, 1)
        else:
            assert status == 1 and reply["edited"]["headline"] in printed
