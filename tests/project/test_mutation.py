"""The mutation tester: each operator changes what it says and nothing else, and a sample can be drawn again."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from each import each
from mutant_runs import Outcome, run, scores, with_equivalents
from mutant_tree import Record, importers, listed
from mutation import OPERATORS, Mutant, is_program, mutants, sample
from mutation_plugin import limit
from places import ROOT


def changed(source: str, operator: str) -> list[str]:
    """What an operator makes of a snippet, as the one line that differs."""
    text = textwrap.dedent(source).encode()
    return [mutant.after for mutant in mutants("snippet.py", text) if mutant.operator == operator]


@each(
    ("source", "operator", "found"),
    [
        ("x = a + b", "ARITH", ["x = (a - b)"]),
        ("x = a % b", "ARITH", ["x = (a // b)"]),
        ("x = -a", "ARITH", ["x = (a)"]),
        ("def f():\n    a |= b", "ARITH", ["a &= b"]),
        ("x = int | str", "ARITH", []),
        ("x = f'{a * b} rows'", "ARITH", ["x = (f'{a // b} rows')"]),
        ("x = a and b or c", "BOOL", ["x = (a or b) or c", "x = ((a and b) and c)"]),
        ("x = a < b <= c", "CMP", ["x = (a <= b <= c)", "x = (a < b < c)"]),
        ("x = a is not None", "CMP", ["x = (a is None)"]),
        ("x = a in b", "CMP", ["x = (a not in b)"]),
        ("def f():\n    raise ValueError('no')", "DELRAISE", ["pass"]),
        ("def f():\n    g(1)", "DELSTMT", ["pass"]),
        ("def f():\n    x = 1\n    y: int = 2\n    z += 3", "DELSTMT", ["pass"] * 3),
        ("x = 1", "DELSTMT", []),
        ("def f():\n    'what it does'", "DELSTMT", []),
        ("f(a, b=1, c=2)", "DROPKW", ["(f(a, c=2))", "(f(a, b=1))"]),
        ("f(**given)", "DROPKW", []),
        ("zip(a, b, strict=True)", "DROPKW", []),
        ("zip(a, b, strict=True)", "FLAG", []),
        ("f(b=True)", "FLAG", ["f(b=(False))"]),
        ("x = max(a, b)", "MINMAX", ["x = (min(a, b))"]),
        ("x = 1 if a else 2", "NEG", ["x = 1 if (not a) else 2"]),
        ("if not a:\n    pass", "NEG", ["if (a):"]),
        ("x = [a for a in b if a]", "NEG", ["x = [a for a in b if (not a)]"]),
        ("def f():\n    return x", "RETNONE", ["return None"]),
        ("def f():\n    return None", "RETNONE", []),
        ("def f():\n    return", "RETNONE", []),
        ("f(a, b, c)", "SWAPARGS", ["(f(b, a, c))"]),
        ("f(a, a)", "SWAPARGS", []),
        ("f(*a, b)", "SWAPARGS", []),
        ("isinstance(a, int)", "SWAPARGS", []),
    ],
)
def test_an_operator_changes_what_it_says(source: str, operator: str, found: list[str]) -> None:
    assert sorted(changed(source, operator)) == sorted(found)


def test_an_integer_is_one_more_or_one_less_and_a_truth_value_is_none() -> None:
    assert changed("x = 8", "INT") in (["x = (9)"], ["x = (7)"])
    assert changed("x = True", "INT") == []


LEFT_OUT = '''
"""A docstring, 8 lines long."""
from typing import TYPE_CHECKING
__all__ = ["f"]
if TYPE_CHECKING:
    from x import y
    z = f(1, 2)
def f(a: Literal[3]) -> Literal[4]:
    """Adds 1."""
    b: Literal[5]
'''


def test_what_no_run_depends_on_has_no_mutants() -> None:
    assert mutants("snippet.py", LEFT_OUT.encode()) == []


SOURCES = {path: (ROOT / path).read_bytes() for path in ("layoutalg/layouts/flat.py", "descriptors/text.py")}
POPULATION = [mutant for path, source in SOURCES.items() for mutant in mutants(path, source)]


def test_a_mutant_changes_its_place_and_nothing_else() -> None:
    assert {mutant.operator for mutant in POPULATION} <= set(OPERATORS)
    for mutant in POPULATION:
        source = SOURCES[mutant.path]
        made = mutant.apply(source)
        assert made != source
        assert made[: mutant.start] == source[: mutant.start]
        assert made.endswith(source[mutant.stop :])
        assert source[: mutant.start].count(b"\n") + 1 <= mutant.line <= mutant.last_line
        if is_program(mutant, source):
            assert ast.dump(ast.parse(made)) != ast.dump(ast.parse(source))


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    first = sample(POPULATION, SOURCES, 20, seed=3)
    assert first == sample(POPULATION, SOURCES, 20, seed=3) != sample(POPULATION, SOURCES, 20, seed=4)
    assert len(set(first)) == 20
    assert len(sample(POPULATION, SOURCES, 10**6, seed=1)) == sum(is_program(m, SOURCES[m.path]) for m in POPULATION)


MUTANT = Mutant("pack/f.py", 2, 2, "INT", "return 1", "return (2)", 20, 21, "(2)")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project of one function; one of its tests sees what it returns."""
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "f.py").write_text("def f():\n    return 1\n")
    (tmp_path / "test_f.py").write_text(
        "from pack.f import f\ndef test_runs(): f()\ndef test_sees(): assert f() == 1\n"
        "def test_waits():\n    while f() != 1: pass\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("tests", "status", "at"),
    [
        ({"test_f.py::test_runs": 0.0, "test_f.py::test_sees": 0.1}, "killed", "test_f.py::test_sees"),
        ({"test_f.py::test_runs": 0.0}, "survived", "test_f.py::test_runs"),
        ({"test_f.py::test_waits": -1.5}, "killed", "test_f.py::test_waits"),
        ({}, "survived", "no test runs the line"),
    ],
)
def test_a_mutant_is_killed_by_a_test_that_fails_or_hangs(
    tests: dict[str, float], status: str, at: str, tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    start = (tree / "pack" / "f.py").read_bytes()
    found = run(
        Mutant("pack/f.py", 2, 2, "INT", "return 1", "return (2)", start.index(b"1"), start.index(b"1") + 1, "(2)"),
        tests,
        tree,
        tmp_path_factory.mktemp("notes"),
    )
    assert (found.status, found.at, found.tests) == (status, at, len(tests))
    assert (tree / "pack" / "f.py").read_bytes() == start


def test_the_time_limit_of_a_test_is_far_beyond_its_time() -> None:
    assert limit(0.0) >= 5
    assert limit(60.0) >= 300


def test_the_tests_of_a_line_are_those_that_ran_it() -> None:
    seconds = {"a": 1.0, "b": 2.0, "c": 3.0}
    measured = Record(seconds, {"f.py": {1: [""], 2: ["a"], 3: ["b", "gone"]}})
    assert measured.tests_of("f.py", 2, 2) == {"a": 1.0}
    assert measured.tests_of("f.py", 2, 3) == {"a": 1.0, "b": 2.0}
    assert measured.tests_of("f.py", 1, 1) == {"a": 1.0, "b": 2.0}  # it ran at import: any test of the file may see it
    assert measured.tests_of("g.py", 1, 1) == {}


def test_a_line_that_runs_at_import_meets_the_tests_of_the_files_that_import_its_module() -> None:
    seconds = {"tests/test_f.py::a": 1.0, "tests/test_f.py::b[x::y]": 1.0, "tests/test_g.py::a": 1.0}
    measured = Record(seconds, {"f.py": {1: [""], 2: []}}, importers={"f.py": {"tests/test_f.py"}})
    assert measured.tests_of("f.py", 1, 1).keys() == {"tests/test_f.py::a", "tests/test_f.py::b[x::y]"}


def test_a_line_that_runs_at_import_meets_the_tests_of_its_room_and_of_its_package() -> None:
    """A number of a table is seen by whoever uses the table, and the form of a class by whoever asks all classes."""
    room, package = "tests/pack/room/test_g.py::a", "tests/pack/test_all.py::a"
    others = ["tests/pack/other/test_g.py::a", "tests/pack/room/inner/test_g.py::a", "tests/test_all.py::a"]
    measured = Record(
        dict.fromkeys([room, package, *others], 1.0), {"pack/room/f.py": {1: [""], 2: ["gone"], 3: [room]}}
    )
    assert measured.tests_of("pack/room/f.py", 1, 1).keys() == {room, package}
    assert measured.tests_of("pack/room/f.py", 3, 3).keys() == {room}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_who_imports_a_module_is_read_from_the_tests() -> None:
    found = importers(listed())
    assert "tests/descriptors/smem/instructions/test_tables.py" in found["descriptors/smem/instructions/tables.py"]
    assert "tests/project/test_layering.py" not in found["descriptors/smem/instructions/tables.py"]


def test_a_survivor_that_the_list_explains_counts_as_equivalent() -> None:
    known = [{"file": "pack/f.py", "operator": "INT", "before": "return 1", "after": "return (2)", "reason": "so"}]
    outcomes = [Outcome(MUTANT, "survived", 3), Outcome(MUTANT, "killed", 3)]
    told = with_equivalents(outcomes, known)
    assert [(one.status, one.at) for one in told] == [("equivalent", "so"), ("killed", "")]
    assert [one.status for one in with_equivalents(outcomes, [])] == ["survived", "killed"]


def test_scores_leave_out_what_is_equivalent() -> None:
    rows = scores([Outcome(MUTANT, status, 1) for status in ("killed", "killed", "survived", "equivalent")])
    assert set(rows) == {"all", "pack", "INT"}
    assert rows["all"] == {"mutants": 4, "killed": 2, "equivalent": 1, "survived": 1, "score": 2 / 3}


def test_the_known_equivalents_are_places_that_there_are() -> None:
    known = json.loads((ROOT / "scripts" / "lib" / "equivalent_mutants.json").read_text(encoding="utf-8"))
    for one in known:
        assert set(one) == {"file", "operator", "before", "after", "reason"} and one["reason"]
        made = mutants(one["file"], (ROOT / one["file"]).read_bytes())
        assert (one["operator"], one["before"], one["after"]) in {(m.operator, m.before, m.after) for m in made}, one


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_the_command_draws_a_sample_and_leaves_the_tree_alone() -> None:
    before = {path: (ROOT / path).stat().st_mtime_ns for path in listed()}
    command = [sys.executable, str(ROOT / "scripts" / "mutants.py"), "--list", "--number", "5", "--only"]
    done = subprocess.run([*command, "layoutalg/layouts"], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 5
    assert all(line.startswith("layoutalg/layouts/") and " -> " in line for line in done.stdout.splitlines())
    nothing = subprocess.run([*command, "docs"], capture_output=True, text=True, check=False)
    assert (nothing.returncode, nothing.stdout) == (2, "no mutants in docs\n")
    assert before == {path: (ROOT / path).stat().st_mtime_ns for path in listed()}


def test_the_watchdog_leaves_the_process_alone_that_only_hands_tests_out() -> None:
    import mutation_plugin

    class Config:
        def __init__(self, workers: int | None, is_worker: bool) -> None:
            self.workers = workers
            if is_worker:
                self.workerinput = {"workerid": "gw0"}

        def getoption(self, name: str, default: object) -> object:
            return self.workers if name == "numprocesses" else default

    found = [mutation_plugin._only_hands_out(Config(n, worker)) for n, worker in ((2, False), (2, True), (None, False))]
    assert found == [True, False, False]
