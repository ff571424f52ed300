"""The command that prints the closed forms of a tile with symbols."""

from __future__ import annotations

import json

import pytest
from refusals import refuses

from descriptors.cli.command import main
from descriptors.smem.derivation.closed_forms import WRITERS, write_formulas
from descriptors.smem.derivation.symbolic import derive_symbolic

ONE = {"dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}


COMMAND = ["derive", "--dtype", "bf16", "--major", "K", "--swizzle", "128B", "--mma", "64x16", "--symbolic"]


def test_the_command_prints_the_closed_forms(capsys: pytest.CaptureFixture[str]) -> None:
    tile = derive_symbolic(("64*m", "64*k"), **ONE)  # type: ignore[arg-type]
    for name in WRITERS:
        assert main([*COMMAND, "--tile", "64*m x 64*k", "--format", name]) == 0
        printed, written = capsys.readouterr().out, write_formulas(tile, name)
        if name == "json":
            assert json.loads(printed) == {"schema": 1, **json.loads(written)}
        else:
            assert printed == written + "\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tile", "8*m x 64*k"], "cannot decide whether 64 divides 8*m; give it as 64*m if it does"),
        (["--tile", "64*m x 64*k", "--emit", "cuda"], "--emit cannot be combined with --symbolic"),
        (["--tile", "64*m x 64*k", "--base", "1024"], "--base cannot be combined with --symbolic"),
        (["--tile", "64*m x 64*k", "--format", "word"], "supported: text, latex, python, json"),
        (["--tile", "64*m x ("], "derive: tile extent 1 is not a positive number or expression; notation: "),
        ([], "is not (MN, K) or (MN, K, stages)"),
    ],
)
def test_the_command_refuses_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*COMMAND, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert refuses(captured.err, message)


def test_a_format_needs_closed_forms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND[:-1], "--tile", "64x64", "--format", "json"]) == 2
    assert "--format needs --symbolic" in json.loads(capsys.readouterr().out)["error"]["message"]
