"""A copy of the checkout for mutants to live in, and which test runs which of its lines.

The copy holds what git would commit. Which test runs a line is measured once a tree by coverage, with the test's name
noted beside each line that runs, in child processes too; a file beside the others under ``build/`` keeps it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("layoutalg", "descriptors")
_HERE = Path(__file__).resolve().parent
_SETTINGS = """
[run]
source = {sources}
relative_files = true
parallel = true
data_file = {data}/coverage
context = ${{MUTATION_TEST-}}
concurrency = thread, multiprocessing
patch = _exit
sigterm = true
disable_warnings = no-data-collected, module-not-measured, module-not-imported, no-ctracer
"""


class RunError(RuntimeError):
    """The tests cannot be run, so that nothing can be said of any mutant."""


def listed() -> list[Path]:
    """The files of the checkout that git tracks or would, in order."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    return [Path(name) for name in sorted(listing.decode().split("\0")) if name and (ROOT / name).is_file()]


def tree_hash(files: Iterable[Path]) -> str:
    """A name for the content of the whole tree."""
    digest = hashlib.sha256(sys.version.encode())
    for path in files:
        digest.update(f"{path}\0".encode() + hashlib.sha256((ROOT / path).read_bytes()).digest())
    return digest.hexdigest()[:20]


def copy_tree(files: Iterable[Path], to: Path) -> Path:
    """A copy of the files, compiled, so that a run compiles nothing but the mutant."""
    for path in files:
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, to / path)
    subprocess.run([sys.executable, "-m", "compileall", "-q", *PACKAGES], cwd=to, check=True)
    return to


def environment(tree: Path, **more: str) -> dict[str, str]:
    """What a run in a copy needs: that copy's packages before any installed ones, and the plugin."""
    others = ("COVERAGE_", "MUTATION_", "PYTHONSAFEPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    return {**kept, "PYTHONPATH": f"{tree}{os.pathsep}{_HERE}", "PYTHONHASHSEED": "0", **more}


def pytest_command(*arguments: str) -> list[str]:
    """A quiet pytest run with the plugin, whose random tests draw the same examples every time."""
    options = ["-q", "--tb=no", "-p", "mutation_plugin", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    return [sys.executable, "-m", "pytest", *options, *arguments]


@dataclass(frozen=True, slots=True)
class Record:
    """How long each test takes, the tests that run each line, and the test files that import each module by name."""

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]
    unfit: list[str] = field(default_factory=list)
    importers: dict[str, set[str]] = field(default_factory=dict)

    def tests_of(self, path: str, first: int, last: int) -> dict[str, float]:
        """The tests that run one of the lines, with their times.

        What runs while a module is imported or at a test's first call of a cached function runs for no test, or for one
        of many: then any test that runs the module may be the one that sees the change, and any test of a file that
        imports it, since a table is read without a line of its module. So may the tests of its room, and those above,
        which ask the whole package: they import the modules that use the table, or all modules by a list.
        """
        tests_by_line = self.lines.get(path, {})
        tests = {test for line in range(first, last + 1) for test in tests_by_line.get(line, [])}
        if "" in tests or not tests:
            tests |= {test for names in tests_by_line.values() for test in names}
            files = self.importers.get(path, set())
            rooms = {Path("tests", room) for room in Path(path).parents} - {Path("tests")}
            for test in self.seconds:
                file = test.partition("::")[0]
                if file in files or Path(file).parent in rooms:
                    tests.add(test)
        return {test: self.seconds[test] for test in tests if test in self.seconds}


def record(files: list[Path], jobs: int, scratch: Path) -> Record:
    """The tests of every line, from the file that keeps them for this tree, or measured."""
    kept = ROOT / "build" / "mutants" / f"{tree_hash(files)}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(_measured(files, jobs, scratch)), encoding="utf-8")
    saved = json.loads(kept.read_text(encoding="utf-8"))
    names: list[str] = saved["tests"]
    lines = {p: {int(n): [names[i] for i in which] for n, which in of.items()} for p, of in saved["lines"].items()}
    return Record(saved["seconds"], lines, saved["unfit"], importers(files))


def importers(files: Iterable[Path]) -> dict[str, set[str]]:
    """The test files that import each module of the packages by its own name, by the module's path."""
    known = {path for path in files if path.suffix == ".py"}
    importers_of: dict[str, set[str]] = {}
    for path in sorted(path for path in known if path.parts[0] == "tests"):
        for node in ast.walk(ast.parse((ROOT / path).read_bytes())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            else:
                continue
            for module in (Path(*name.split(".")).with_suffix(".py") for name in names):
                if module in known:
                    importers_of.setdefault(str(module), set()).add(str(path))
    return importers_of


def _measured(files: list[Path], jobs: int, scratch: Path) -> dict[str, Any]:
    """Two runs of all tests: one that notes lines, one as mutants meet them, for the times and for who fails there."""
    tree, data = copy_tree(files, scratch / "measured"), scratch / "coverage"
    data.mkdir()
    settings = scratch / "coveragerc"
    sources = ", ".join(str(tree / package) for package in PACKAGES)
    settings.write_text(_SETTINGS.format(sources=sources, data=data), encoding="utf-8")
    noted = _run(tree, scratch, jobs, COVERAGE_PROCESS_START=str(settings))
    (scratch / "tests.json").write_text(json.dumps(noted["seconds"]), encoding="utf-8")
    plain = _run(tree, scratch, jobs, MUTATION_TESTS=str(scratch / "tests.json"))
    return {
        "seconds": plain["seconds"],
        "unfit": sorted({*noted["unfit"], *noted["seconds"]} - {*plain["seconds"]}),
        **_combined(tree, data, settings),
    }


def _run(tree: Path, scratch: Path, jobs: int, **more: str) -> dict[str, Any]:
    """Run all tests of a copy: how long each passing test took, and which did not pass."""
    times = scratch / "times.json"
    times.unlink(missing_ok=True)
    env = environment(tree, MUTATION_RECORD=str(times), **more)
    command = pytest_command("-n", str(jobs), "--dist", "worksteal")
    done = subprocess.run(
        command, cwd=tree, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if not times.exists():
        raise RunError(f"mutants: the tests must run, found {(done.stdout + done.stderr).strip()[-2000:]}")
    saved: dict[str, Any] = json.loads(times.read_text(encoding="utf-8"))
    if not saved["seconds"]:
        raise RunError(f"mutants: some test must pass, found {done.stdout.strip()[-2000:]}")
    return saved


def _combined(tree: Path, data: Path, settings: Path) -> dict[str, Any]:
    """Tests by line, from the files of all the processes; a test stands there as its number."""
    from coverage import CoverageData

    combine = [sys.executable, "-m", "coverage", "combine", "-q", f"--rcfile={settings}"]
    subprocess.run(combine, cwd=tree, env=environment(tree), check=True)
    measured = CoverageData(str(data / "coverage"))
    measured.read()
    numbers: dict[str, int] = {}
    lines: dict[str, dict[int, list[int]]] = {}
    for name in measured.measured_files():
        contexts = measured.contexts_by_lineno(name)
        path = os.path.relpath(tree / name, tree)
        lines[path] = {
            line: sorted(numbers.setdefault(test.strip("|"), len(numbers)) for test in tests)
            for line, tests in contexts.items()
        }
    return {"tests": list(numbers), "lines": lines}
