"""``scripts/test --fresh``: what it takes for minutes, runs and says; and that the seed alone decides what is drawn."""

from __future__ import annotations

import ast
import importlib.util
import os
import random
import subprocess
import sys
from collections.abc import Sequence

import pytest
import seeds
from places import ROOT

import layoutalg


def loaded():
    spec = importlib.util.spec_from_file_location("fresh", ROOT / "scripts" / "lib" / "fresh.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fresh = loaded()


@pytest.mark.parametrize(
    ("arguments", "minutes", "rest"),
    [
        ([], 10, []),
        (["3"], 3, []),
        (["0.5", "-k", "tma"], 0.5, ["-k", "tma"]),
        (["-k", "tma"], 10, ["-k", "tma"]),
    ],
)
def test_minutes_come_first_and_the_rest_goes_to_pytest(arguments, minutes, rest):
    assert fresh.split(arguments) == (minutes, rest)


@pytest.mark.parametrize("minutes", ["0", "-1", "soon", "nan", "inf", "1e9", ""])
def test_minutes_that_are_none_are_one_line_and_status_2(minutes, capsys):
    assert fresh.main([minutes]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1
    assert told.err.startswith("--fresh: MINUTES must be a number of (0, 10080], found ")


def hunted(verdicts: Sequence[int], minutes: float, seconds_each: float) -> tuple[int, list[int]]:
    """Exit status and seeds of a hunt whose runs end as told, on a clock of its own."""
    now = [0.0]
    tried: list[int] = []

    def run(seed, arguments):
        tried.append(seed)
        now[0] += seconds_each
        return verdicts[len(tried) - 1], "FAILED tests/test_a.py::test_b[7] - assert 1 == 2\nERROR tests/test_c.py\n"

    return fresh.hunt(minutes, [], run=run, seeds=random.Random(1), clock=lambda: now[0]), tried


def test_new_seeds_are_tried_until_the_time_is_up(capsys):
    status, tried = hunted([0] * 9, minutes=1, seconds_each=25)
    assert status == 0 and len(set(tried)) == 3
    assert capsys.readouterr().out.endswith("fresh: 3 seeds tried, no failure\n")


def test_a_short_hunt_still_tries_one_seed(capsys):
    assert hunted([0], minutes=0.01, seconds_each=90)[0] == 0
    assert capsys.readouterr().out.endswith("fresh: 1 seed tried, no failure\n")


def test_a_failure_ends_the_hunt_and_says_what_to_add_where(capsys):
    status, tried = hunted([0, 1], minutes=9, seconds_each=25)
    told = capsys.readouterr().out
    assert status == 1 and "2 seeds tried, and the last one fails" in told
    assert f"LAYOUTALG_SEED={tried[1]} fails:\n  tests/test_a.py::test_b[7]\n  tests/test_c.py\n" in told
    assert f'tests/vectors/failed_seeds.json, {{"test": NAME, "seed": {tried[1]}, "why": ...}}' in told


def test_a_pytest_that_does_not_run_is_no_failing_seed(capsys):
    assert hunted([4], minutes=9, seconds_each=25)[0] == 2
    told = capsys.readouterr()
    assert told.err == "fresh: pytest must run the tests, found exit status 4\n" and "fails" not in told.out


def test_the_files_that_draw_are_those_with_hypothesis_or_a_seed():
    files = fresh.files_that_draw()
    assert {
        "tests/layoutalg/oracle/test_algebra.py",
        "tests/layoutalg/algebra/test_composition.py",
        "tests/descriptors/smem/tma/test_planner.py",
    } <= set(files)
    assert "tests/project/test_divergences.py" not in files


@pytest.mark.skipif(sys.platform == "win32", reason="the scripts need bash")
def test_the_help_says_how_seeds_work():
    done = subprocess.run([ROOT / "scripts" / "test", "--help"], capture_output=True, text=True, check=True)
    assert "--fresh [MINUTES]" in done.stdout and "LAYOUTALG_SEED=N" in done.stdout


# Seeds


def test_the_seed_is_that_of_the_release_unless_another_is_asked_for(monkeypatch):
    monkeypatch.delenv("LAYOUTALG_SEED", raising=False)
    assert seeds.seed_of_this_run() == seeds.release_seed(layoutalg.__version__)
    assert seeds.release_seed("0.1.0") == 0x2919AF7B
    assert seeds.release_seed("0.1.0") != seeds.release_seed("0.1.1")
    monkeypatch.setenv("LAYOUTALG_SEED", "12")
    assert seeds.seed_of_this_run() == 12 and seeds.seeds_of("any") == [12]


@pytest.mark.parametrize("seed", ["-1", "1.5", "x"])
def test_a_seed_that_is_none_is_said_so(monkeypatch, seed):
    monkeypatch.setenv("LAYOUTALG_SEED", seed)
    with pytest.raises(seeds.BadSeedError, match="must be an integer of 0 or more"):
        seeds.seed_of_this_run()


def test_every_failed_seed_is_one_of_a_test_that_runs_on_it(monkeypatch):
    monkeypatch.delenv("LAYOUTALG_SEED", raising=False)
    parametrised = {
        call.args[0].value
        for path in (ROOT / "tests").rglob("test_*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "seeds_of"
    }
    rows = seeds.failed_seeds()
    assert {row["test"] for row in rows} <= parametrised
    assert len({(row["test"], row["seed"]) for row in rows}) == len(rows)
    for row in rows:
        assert row["why"] and row["seed"] in seeds.seeds_of(row["test"])


DRAWING = """
from hypothesis import given, settings
from strategies import any_layouts, composed_pairs
import hypothesis.strategies as st

@settings(max_examples=30)
@given(any_layouts, composed_pairs, st.integers(), st.text(max_size=3))
def test_draw(layout, pair, number, word):
    with open({log!r}, "a") as log:
        log.write(repr((str(layout), list(map(str, pair)), number, word)) + "\\n")
"""


def test_what_hypothesis_draws_depends_on_the_seed_alone(tmp_path):
    """Not on string hashes, on whether CI is set, on the modules that are loaded, or on an earlier run."""

    def drawn(name: str, hash_seed: str, before: str = "") -> list[str]:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"))
        (folder / "test_draw.py").write_text(before + DRAWING.format(log=str(folder / "log")))
        path = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "judge")])
        environment = {key: value for key, value in os.environ.items() if key not in ("CI", "PYTHONSAFEPATH")}
        environment |= {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": path, "LAYOUTALG_SEED": "5"}
        environment |= {"CI": "true"} if name == "second" else {}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(folder),
            str(folder),
        ]
        subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True)
        return (folder / "log").read_text().splitlines()

    first = drawn("first", "1")
    assert len(first) >= 30
    assert drawn("second", "2") == first
    assert (
        drawn(
            "third",
            "3",
            "import descriptors.smem.debug.decode, layoutalg.notation.expression\nODD = (123457, 'weasel')\n",
        )
        == first
    )
