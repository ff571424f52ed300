"""The scripts of the course: they print their example, and end as their claims do."""

from __future__ import annotations

import subprocess
import sys

import article as script
import pytest
from article import SW64_MNMAJOR, SW128_KMAJOR, Claim, Example, main
from places import ROOT
from refusals import refusal

from descriptors import oracle

EXAMPLES = {"sw128_kmajor": SW128_KMAJOR, "sw64_mnmajor": SW64_MNMAJOR}


CLAIMS_OF_3 = list(SW128_KMAJOR.claims(SW128_KMAJOR.derive()))


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_script_prints_its_example_and_every_number_holds(name: str) -> None:
    command = [sys.executable, f"scripts/{name}.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "WRONG" not in done.stdout
    assert hex(EXAMPLES[name].word)[2:] in done.stdout


def test_check_without_the_dsl_is_one_line_and_status_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(oracle, "available", lambda: False)
    assert main(SW128_KMAJOR, ["--check"]) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert refusal(told.err)


def test_any_other_argument_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(SW128_KMAJOR, ["--chekc"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "no such option '--chekc'" in refusal(told.err)


def test_a_number_that_is_wrong_is_marked_and_ends_with_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = Example(SW128_KMAJOR.title, SW128_KMAJOR.arguments, SW128_KMAJOR.claims, SW128_KMAJOR.word + 1)
    assert main(wrong, []) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[-2] == "WRONG word   descriptor word: 0x4000404000010001, DERIVED 0x4000404000010000"
    assert told[-1] == f"{len(CLAIMS_OF_3)} of {len(CLAIMS_OF_3) + 1} hold"


def test_a_step_of_the_scripts_own_that_is_wrong_is_told_and_ends_with_status_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    steps = [Claim("3.5.1", "tile_to_shape", "8:1", "8:1"), Claim("3.5.4", "logical_divide", "8:1", "8:2")]
    assert main(SW128_KMAJOR, [], own=steps) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[-3:] == ["The script's own steps:", "WRONG 3.5.4  logical_divide: 8:1, DERIVED 8:2", "0 of 1 hold"]


def test_steps_that_hold_are_not_told_again(capsys: pytest.CaptureFixture[str]) -> None:
    main(SW128_KMAJOR, [])
    bare = capsys.readouterr().out
    assert main(SW128_KMAJOR, [], own=[Claim("3.5.1", "tile_to_shape", "8:1", "8:1")]) == 0
    assert capsys.readouterr().out == bare


def test_an_oracle_that_breaks_is_one_line_and_status_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: Example) -> list[Claim]:
        raise oracle.OracleError("the worker\nwas lost")

    monkeypatch.setattr(oracle, "available", lambda: True)
    monkeypatch.setattr(script, "oracle_claims", broken)
    assert main(SW128_KMAJOR, ["--check"]) == 3
    told = capsys.readouterr()
    assert told.err.endswith(": --check: the worker was lost\n")
    assert told.out.splitlines()[-1].endswith(" hold")
