"""`derive --check` says whether the CuTe DSL writes the same word, and with which status it ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from refusals import refusal

from descriptors import oracle
from descriptors.cli.command import main
from descriptors.oracle.words import WordAnswer
from layoutalg.installation import pip_install

LINE = ["derive", "--dtype", "bf16", "--major", "K", "--swizzle", "128B", "--tile", "128x128", "--mma", "64x16"]
OURS = 0x4000404000010000


@pytest.mark.skipif(not oracle.available(), reason="the CuTe DSL is not installed")
@pytest.mark.parametrize("arch", ["sm90", "sm100"])
def test_the_compiler_writes_the_derived_word(arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE, "--arch", arch, "--check"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"CuTe DSL {oracle.version()}: the same word")


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (WordAnswer("ok", OURS), 0, "the same word"),
        (WordAnswer("ok", OURS ^ 1 << 16), 0, "the same word, except for bits without effect: 0x4000404000000000"),
        (WordAnswer("ok", OURS ^ 1 << 38), 1, "different, it has 0x4000400000010000, but 0x4000404000010000 is"),
        (WordAnswer("rejected", None, text="no such\ntile"), 1, "no word to compare with, rejected: no such tile"),
    ],
)
def test_the_line_and_the_status_are_those_of_the_answer(
    answer: WordAnswer, status: int, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from descriptors.oracle import words as check

    monkeypatch.setattr(oracle, "available", lambda: True)
    monkeypatch.setattr(check, "descriptor_words", lambda _: [answer])
    assert main([*LINE, "--check"]) == status
    assert words in capsys.readouterr().out.splitlines()[-1]
    assert main([*LINE, "--check", "--json"]) == status
    record: dict[str, Any] = json.loads(capsys.readouterr().out)["check"]
    assert (record["agrees"], record["status"]) == (not status, answer.status)


def test_where_the_dsl_is_missing_the_status_is_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(oracle, "available", lambda: False)
    assert main([*LINE, "--check"]) == 3
    assert capsys.readouterr() == (
        "",
        "descriptors derive: error: --check: the CuTe DSL is not installed\n"
        f"  note: {pip_install('oracle')} adds it\n",
    )  # fmt: skip


def test_where_the_dsl_breaks_the_status_is_3_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from descriptors.oracle import words as check

    def breaks(_: object) -> list[WordAnswer]:
        raise oracle.OracleError("the oracle must answer, found nothing")

    monkeypatch.setattr(oracle, "available", lambda: True)
    monkeypatch.setattr(check, "descriptor_words", breaks)
    assert main([*LINE, "--check"]) == 3
    assert capsys.readouterr() == ("", "descriptors derive: error: --check: the oracle must answer, found nothing\n")


@pytest.mark.parametrize("other", [["--explain"], ["--emit", "cuda"], ["--words"], ["--subtile", "0,0"]], ids=" ".join)
def test_a_check_goes_with_the_whole_story_alone(other: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE, "--check", *other]) == 2
    assert "--check can be combined with the default output or --json" in refusal(capsys.readouterr().err)


@pytest.mark.skipif(not oracle.available(), reason="the CuTe DSL is not installed")
def test_a_word_with_an_absolute_line_is_compared_too(capsys: pytest.CaptureFixture[str]) -> None:
    line = "derive --dtype e2m1 --major K --swizzle 128B --tile 128x768 --mma 128x96 --legality off --check"
    assert main(line.split()) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"CuTe DSL {oracle.version()}: the same word"
