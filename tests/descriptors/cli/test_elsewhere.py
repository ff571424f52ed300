"""Who takes what was typed elsewhere: each taker does take it, and options without arguments stay as they are."""

from __future__ import annotations

import pytest
from refusals import refusal

from descriptors.cli.command import main
from descriptors.cli.values import elsewhere

WORD = "0x4000404000010000"
LAYOUT = "S<3,3,3> o 0 o (64,16):(64,1)"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (WORD, ["decode", WORD]),
        (WORD[2:].replace("4000404", "c000404"), ["decode", "0x" + WORD[2:]]),
        (LAYOUT, ["match", LAYOUT, "--dtype", "bf16"]),
        (LAYOUT, ["derive", "--layout", LAYOUT, "--dtype", "bf16", "--mma", "64x16"]),
    ],
)
def test_the_taker_that_is_named_takes_it(text: str, line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert f"descriptors {line[0]}" in elsewhere(text)
    assert main(line) == 0


@pytest.mark.parametrize("text", ["", "nothing", "bf16", "128B", "--tile", "a:b", "12"])
def test_of_anything_else_nothing_is_said(text: str) -> None:
    assert elsewhere(text) == ""


def test_a_stray_word_of_no_known_kind_is_refused_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "stray", "--dtype", "bf16", "--tile", "64x64"]) == 2
    assert refusal(capsys.readouterr().err)


def test_an_option_that_plan_lacks_is_not_mistaken_for_another(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "m64n64k16", "bf16", "--epilogue", "x"]) == 2
    message = capsys.readouterr().err
    assert "--terms, --c-dtype and --store" in message and "Did you mean" not in message


@pytest.mark.parametrize("command", [["match"], ["candidates"], ["diff", "0x4000404000010000", "--major", "K"]])
def test_every_command_that_takes_a_layout_knows_what_cute_prints(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*command, "S<3,4,3> o 0 o (64,16):(64,1)", "--dtype", "bf16"]
    assert main(words) == 2
    assert capsys.readouterr().err.endswith("\n  help: if CuTe printed the layout, use --unit cute\n")
    assert main([*words, "--unit", "cute"]) == 0
