"""Mutants put to the test, each in a copy of the tree, and what became of them.

A mutant is *killed* where a test fails, hangs or can no longer be collected; it has *survived* where all the tests that
run its line pass, and counts as *equivalent* where a list says why no test could tell.
"""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mutant_tree import Record, environment, pytest_command
from mutation import OPERATORS, Mutant
from mutation_plugin import limit

_START = 120.0  # the time to start pytest and to collect the tests, at most


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant: how many tests were to run, which one ran when the run ended, and how long it took."""

    mutant: Mutant
    status: str
    tests: int
    at: str = ""
    seconds: float = 0.0

    def record(self) -> dict[str, Any]:
        """The outcome as plain data."""
        kept = ("path", "line", "operator", "before", "after")
        return {name: getattr(self.mutant, name) for name in kept} | {
            name: value for name, value in asdict(self).items() if name != "mutant"
        }


def run(mutant: Mutant, tests: dict[str, float], tree: Path, notes: Path) -> Outcome:
    """Put a mutant into a copy of the tree, run its tests until one fails, and take it out again."""
    if not tests:
        return Outcome(mutant, "survived", 0, "no test runs the line")
    began = time.monotonic()
    target = tree / mutant.path
    source = target.read_bytes()
    at = notes / "at"
    at.unlink(missing_ok=True)
    (notes / "tests.json").write_text(json.dumps(tests), encoding="utf-8")
    (notes / "arguments").write_text("\n".join(sorted({test.partition("::")[0] for test in tests})), encoding="utf-8")
    try:
        _put(target, mutant.apply(source))
        status = _status(tree, notes, _START + sum(map(limit, tests.values())))
    finally:
        _put(target, source)
    return Outcome(mutant, status, len(tests), at.read_text() if at.exists() else "", time.monotonic() - began)


def _put(target: Path, source: bytes) -> None:
    """Write a source; a compiled form of the same second and size would be taken for its own."""
    target.write_bytes(source)
    for stale in (target.parent / "__pycache__").glob(f"{target.stem}.*"):
        stale.unlink()


def _status(tree: Path, notes: Path, longest: float) -> str:
    variables = {"MUTATION_TESTS": str(notes / "tests.json"), "MUTATION_AT": str(notes / "at")}
    command = pytest_command("-x", f"@{notes / 'arguments'}")
    shutil.rmtree(tree / ".hypothesis", ignore_errors=True)
    env = environment(tree, PYTHONDONTWRITEBYTECODE="1", **variables)
    process = subprocess.Popen(
        command, cwd=tree, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        return "survived" if process.wait(longest) == 0 else "killed"
    except subprocess.TimeoutExpired:
        return "killed"
    finally:
        process.kill()
        process.wait()


def run_all(
    mutants: Iterable[Mutant], record: Record, trees: list[Path], tell: Callable[[Outcome], None], whole: bool = False
) -> list[Outcome]:
    """Put mutants to the test, one at a time in each tree; after an interrupt, those that were done.

    ``whole``: a survivor meets all the other tests too.
    """
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    done: list[Outcome] = []
    for tree in trees:
        free.put(tree)

    def one(mutant: Mutant) -> None:
        tree = free.get()
        try:
            tests = record.tests_of(mutant.path, mutant.line, mutant.last_line)
            outcome = run(mutant, tests, tree, tree.parent)
            if whole and outcome.status == "survived":
                rest = {test: seconds for test, seconds in record.seconds.items() if test not in tests}
                outcome = run(mutant, rest, tree, tree.parent)
        finally:
            free.put(tree)
        done.append(outcome)
        tell(outcome)

    with ThreadPoolExecutor(len(trees)) as pool:
        try:
            for _ in pool.map(one, mutants):
                pass
        except KeyboardInterrupt:
            kept = list(done)  # the child that was running has been interrupted too, and says nothing of its mutant
            pool.shutdown(cancel_futures=True)
            return kept
    return done


def with_equivalents(outcomes: Iterable[Outcome], known: Iterable[dict[str, str]]) -> list[Outcome]:
    """Outcomes whose survivors count as equivalent where the list has them, wherever in the file they stand."""
    listed = {(one["file"], one["operator"], one["before"], one["after"]): one["reason"] for one in known}
    outcomes_known = []
    for outcome in outcomes:
        mutant = outcome.mutant
        reason = listed.get((mutant.path, mutant.operator, mutant.before, mutant.after))
        if outcome.status == "survived" and reason:
            outcome = Outcome(mutant, "equivalent", outcome.tests, reason, outcome.seconds)
        outcomes_known.append(outcome)
    return outcomes_known


def scores(outcomes: Iterable[Outcome]) -> dict[str, dict[str, float]]:
    """Numbers of mutants by what became of them, and the share killed of those that are not equivalent."""
    rows: dict[str, dict[str, float]] = {}
    for outcome in outcomes:
        for name in ("all", outcome.mutant.path.partition("/")[0], outcome.mutant.operator):
            row = rows.setdefault(name, {"mutants": 0, "killed": 0, "equivalent": 0, "survived": 0})
            row["mutants"] += 1
            row[outcome.status] += 1
    for row in rows.values():
        row["score"] = row["killed"] / max(row["mutants"] - row["equivalent"], 1)
    return dict(sorted(rows.items(), key=lambda item: (item[0] in OPERATORS, item[0] != "all", item[0])))
