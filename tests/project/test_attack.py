"""The fuzzers find what is planted, nothing new in the project, and each known finding that still stands."""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from attacks import algebra, api, commands, derivations, isolated, walk
from attacks.findings import Fuzzer, Known, attack, examine, known_findings
from places import ROOT

import descriptors
import layoutalg
from descriptors.smem.derivation.derivation import Derivation

FUZZERS: dict[str, Fuzzer] = {"algebra": algebra, "derivations": derivations, "commands": commands, "api": api}
CASES = {"algebra": 200, "derivations": 8, "commands": 25, "api": 40}
SCRIPT = ROOT / "scripts" / "attack.py"


def found(fuzzer: Fuzzer, cases: int) -> list[str]:
    """What a fuzzer finds that is not known."""
    findings = attack(fuzzer, 1, cases, None, known_findings())
    return [str(finding) for finding in findings if finding is not None and not finding.known]


@pytest.mark.parametrize("name", FUZZERS)
def test_nothing_new_is_found(name: str) -> None:
    assert found(FUZZERS[name], CASES[name]) == []


@pytest.mark.parametrize("known", known_findings(), ids=lambda known: f"{known.fuzzer}: {known.why}")
def test_a_known_finding_still_shows(known: Known) -> None:
    """Where one is mended this fails: take its entry out of ``scripts/lib/attacks/known.json``."""
    assert known.reproduced(FUZZERS[known.fuzzer]), "it is mended: take it out of scripts/lib/attacks/known.json"


@pytest.mark.parametrize("name", FUZZERS)
def test_a_seed_draws_the_same_cases(name: str) -> None:
    def drawn(seed: int) -> list[Any]:
        return [FUZZERS[name].draw(random.Random(f"{seed}/{number}")) for number in range(20)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert json.loads(json.dumps(drawn(1))) == drawn(1), "a case must be JSON, so that it can be kept"


def endless(*_: Any) -> int:
    while True:
        pass


# ---- planted: each fuzzer can find ----


def planted(monkeypatch: pytest.MonkeyPatch, name: str, wrong: Callable[[Any], Any]) -> str:
    """What the algebra's fuzzer says of an operation whose result is spoilt, all in one."""
    right = getattr(layoutalg, name)
    monkeypatch.setattr(layoutalg, name, lambda *operands, **named: wrong(right(*operands, **named)))
    cases = [algebra.draw(random.Random(number), name) for number in range(60)]
    findings = [examine(algebra, case) for case in cases]
    known = known_findings()
    return "\n".join(str(one) for one in findings if one is not None and not any(k.explains(one) for k in known))


def steeper(value: Any) -> Any:
    """A value whose strides are all one more."""
    if isinstance(value, layoutalg.ComposedLayout):
        return layoutalg.ComposedLayout(value.outer, value.offset, steeper(value.inner))
    if isinstance(value, layoutalg.Layout):
        return layoutalg.Layout(value.shape, steeper(value.stride))
    if isinstance(value, layoutalg.ScaledBasis):
        return layoutalg.ScaledBasis(value.value + 1, value.mode)
    return tuple(map(steeper, value)) if isinstance(value, tuple) else value + 1


@pytest.mark.parametrize("name", sorted(algebra.judge.NAMES))
def test_a_wrong_result_of_any_operation_is_found(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert "wrong: " in planted(monkeypatch, name, steeper)


def test_a_needless_refusal_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Any) -> Any:
        raise layoutalg.LayoutError("no")

    assert "needless refusal" in planted(monkeypatch, "composition", refuse)


def test_an_untyped_error_of_an_operation_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "untyped ZeroDivisionError" in planted(monkeypatch, "coalesce", lambda _: 1 // 0)


def test_an_endless_operation_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layoutalg, "flatten", endless)
    assert algebra.check("flatten(Layout(4, 1))", seconds=1) == "time: more than 1 s"


@pytest.mark.parametrize(("way", "wrong"), [("__str__", lambda _: "4:1"), ("__repr__", lambda _: "Layout(4, 1)")])
def test_a_broken_round_trip_is_found(monkeypatch: pytest.MonkeyPatch, way: str, wrong: Callable[[Any], str]) -> None:
    monkeypatch.setattr(layoutalg.Layout, way, wrong)
    assert any("round trip" in finding for finding in found(algebra, 20))


@pytest.mark.parametrize("bit", [0, 17, 33])
def test_a_wrong_word_is_found(monkeypatch: pytest.MonkeyPatch, bit: int) -> None:
    def spoilt(table: Any) -> Any:
        return table ^ 1 << bit if isinstance(table, int) else tuple(map(spoilt, table))

    right = Derivation.words
    monkeypatch.setattr(Derivation, "words", lambda self, base=0: spoilt(right(self, base)))
    assert any("is read from bit" in finding for finding in found(derivations, 20))


def test_a_diff_that_notices_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = descriptors.diff
    monkeypatch.setattr(descriptors, "diff", lambda *a, **named: replace(right(*a, **named), differing=0))
    assert any("diff counts 0" in finding for finding in found(derivations, 20))


def test_the_walk_reads_the_words_of_the_articles() -> None:
    word = walk.Word.read(0x4000404000010000, "sm100")
    assert word == walk.Word(start=0, leading=16, stride=1024, base=0, mode="128B")
    assert [walk.fetched(word, 16, "K", i, 0) // 8 for i in (0, 1, 2, 8)] == [0, 0x90, 0x120, 0x400]


def ended(monkeypatch: pytest.MonkeyPatch, main: Callable[[Any], int], **streams: str) -> str:
    """What is said of a program that ends as ``main`` does."""
    monkeypatch.setattr("layoutalg.cli.main", main)
    case = {"program": "layoutalg", "arguments": ["ops"], "closed": "", **streams}
    return str(examine(commands, case, seconds=1))


def test_every_bad_end_of_a_command_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def lines(_: Any) -> int:
        print("one\ntwo", file=sys.stderr)
        return 2

    def escape(_: Any) -> int:
        print("\x1b[31m")
        return 0

    assert "traceback: ZeroDivisionError" in ended(monkeypatch, lambda _: 1 // 0)
    assert "status 3 is not documented" in ended(monkeypatch, lambda _: 3)
    assert "status 1 is not documented" in ended(monkeypatch, lambda _: 1)
    assert "not a refusal" in ended(monkeypatch, lines)
    assert "not a refusal" in ended(monkeypatch, lambda _: 2)
    assert "control character" in ended(monkeypatch, escape)
    assert "time" in ended(monkeypatch, endless)
    assert "traceback: MemoryError" in ended(monkeypatch, lambda _: len(bytearray(isolated.MEMORY_BYTES)))
    assert "traceback: AttributeError" in ended(monkeypatch, lambda _: sys.stdout.write("x") and 0, closed="stdout")
    assert ended(monkeypatch, lambda _: 0) == "None"


def test_a_line_can_be_pasted() -> None:
    case = {"program": "layoutalg", "arguments": ["eval", "\x1b'ü"], "closed": "stdout"}
    told = subprocess.run(
        ["bash", "-c", f"layoutalg() {{ printf '<%s>' \"$@\" >&2; }}; {commands.line(case)}"],
        capture_output=True,
        check=True,
    )
    assert told.stderr.decode() == "<eval><\x1b'ü>"


def test_what_a_child_starts_ends_with_it() -> None:
    started = isolated.run(lambda: subprocess.Popen(["sleep", "60"]).pid)
    for _ in range(100):  # on a loaded machine a killed process takes a while to end
        ps = ["ps", "-o", "stat=", "-p", str(started.value)]
        state = subprocess.run(ps, capture_output=True, text=True, check=False).stdout.strip()[:1]
        if state in ("", "Z"):
            return
        time.sleep(0.1)
    pytest.fail(f"the child is still in state {state}")


def test_an_untyped_error_of_the_interface_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_: object) -> int:
        raise KeyError("planted")

    monkeypatch.setattr(layoutalg, "rank", wrong)
    assert api.check("rank(Layout(4, 1))") == "untyped KeyError: 'planted'"
    assert api.check("rank()") is None, "Python's own TypeError for a wrong number of arguments"
    monkeypatch.setattr(layoutalg, "rank", endless)
    assert str(api.check("rank(4)", seconds=1)).startswith("time")


# ---- the script ----


def load() -> Any:
    spec = importlib.util.spec_from_file_location("attack_script", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_script_answers_0_where_nothing_is_new() -> None:
    command = [sys.executable, str(SCRIPT), "all", "--cases", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stderr.splitlines()[0] == "algebra: 5 cases, 0 new, 0 known"


def test_the_script_answers_1_where_something_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(layoutalg, "size", lambda _: 77)
    monkeypatch.setattr(sys, "argv", ["attack.py", "algebra", "--cases", "200", "--json"])
    assert load().main() == 1
    rows = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    assert any(row["found"].startswith("wrong: 77 instead of") and "print(size(" in row["line"] for row in rows)
