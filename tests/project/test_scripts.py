"""The scripts of a checkout: a ready environment is used at once, and what is missing is said in a sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

SCRIPTS = ROOT / "scripts"
#: The folders of `descriptors`: the wings, the commands over them and the oracle beside them.
WINGS = sorted(path.parent.name for path in (ROOT / "descriptors").glob("*/__init__.py"))

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the scripts need bash")


def bash(line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment, check=False)


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """An environment as the scripts leave it, whose programs only say how they were called."""
    (tmp_path / "bin").mkdir()
    for program in ("python", "descriptors"):
        (tmp_path / "bin" / program).write_text('#!/bin/sh\necho "$(basename "$0")" "$@"\n')
        (tmp_path / "bin" / program).chmod(0o755)
    bash(f'. {SCRIPTS}/lib/env.sh; fingerprint run > "$VENV/.made-run"', LAYOUTALG_VENV=str(tmp_path))
    return tmp_path


def test_a_second_run_starts_at_once(ready: Path) -> None:
    done = bash(f"{SCRIPTS}/derive --tile 128x128 --json", LAYOUTALG_VENV=str(ready), PYTHON="/bin/false")
    assert (done.returncode, done.stdout, done.stderr) == (0, "descriptors derive --tile 128x128 --json\n", "")


def test_the_environment_with_the_test_tools_serves_derive_too(ready: Path) -> None:
    (ready / ".made-run").unlink()
    bash(f'. {SCRIPTS}/lib/env.sh; fingerprint dev > "$VENV/.made-dev"', LAYOUTALG_VENV=str(ready))
    assert bash(f"{SCRIPTS}/derive", LAYOUTALG_VENV=str(ready)).stdout == "descriptors derive --steps\n"


def test_an_environment_of_other_requirements_is_not_current(ready: Path) -> None:
    (ready / ".made-run").write_text("made from something else")
    done = bash(f". {SCRIPTS}/lib/env.sh; is_current run", LAYOUTALG_VENV=str(ready))
    assert done.returncode != 0


def test_without_a_python_the_script_says_what_it_needs(tmp_path: Path) -> None:
    for tool in ("dirname", "basename", "readlink", "cut", "sha256sum", "cat", "mkdir", "flock"):
        found = shutil.which(tool)
        if found:
            (tmp_path / tool).symlink_to(found)
    bash_path = shutil.which("bash")
    done = bash(
        f"PATH={tmp_path} {bash_path} {SCRIPTS}/derive", LAYOUTALG_VENV=str(tmp_path / "venv"), PYTHON="/bin/false"
    )
    assert done.returncode == 2
    assert done.stderr.startswith("derive: Python 3.11 or newer is needed")


def test_the_benchmark_measures_on_the_same_inputs() -> None:
    command = [sys.executable, str(SCRIPTS / "bench.py"), "--json", "--only", "size", "--repeats", "1", "--inputs", "2"]
    done = subprocess.run([*command, "--least", "0"], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert [row["operation"] for row in told["operations"]] == ["size", "cosize"]
    assert all(row["inputs"] == 2 and row["layoutalg"] > 0 for row in told["operations"])
    assert 0 < told["processes"]["import layoutalg"]["least"] <= told["processes"]["import layoutalg"]["seconds"]


def test_the_proofs_are_measured_with_what_they_claim() -> None:
    sys.path.insert(0, str(SCRIPTS / "lib"))
    try:
        from bench_proofs import measure_proofs, report_lines
    finally:
        sys.path.pop(0)
    found = measure_proofs(1, 1500)
    assert found["points"] > found["proved"] > 0
    for row, bases in zip(found["tiles"], (249, 225, 129), strict=True):
        assert row["bases"] == bases and row["at every base"] > row["comparison"] > row["words"] > 0
    assert sum(line.startswith("proof of a ") for line in report_lines(found)) == 3


def test_growth_is_measured_by_rank_depth_and_size() -> None:
    command = [sys.executable, str(SCRIPTS / "bench_growth.py"), "--repeats", "1", "--least", "0"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split()[0] for line in lines[1:6]] == ["4", "16", "64", "128", "256"]
    heads = [line.split("  ")[0] for line in lines if not line.startswith(" ")]
    assert heads[1:] == ["by rank", "by depth", "by size, 2**n elements"]


@pytest.mark.parametrize("text", [None, "", "[]", "{}"], ids=str)
def test_what_is_no_table_of_the_benchmark_is_refused_in_a_line(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    if text is not None:
        path.write_text(text)
    command = [sys.executable, str(SCRIPTS / "bench_gemm"), "--show", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = f"bench_gemm: --show must be a file that --json wrote, found {path}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


@pytest.mark.parametrize("inside", ["thesis.txt", "bin/python", "pyvenv.cfg"])
def test_a_folder_that_is_no_environment_of_the_scripts_is_never_cleared(inside: str, tmp_path: Path) -> None:
    folder = tmp_path / "precious"
    (folder / inside).parent.mkdir(parents=True)
    (folder / inside).write_text("years of work")
    done = bash(f"{SCRIPTS}/derive --help", LAYOUTALG_VENV=str(folder))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{folder} is not an environment that this script made, so it is left alone" in done.stderr
    assert [path.name for path in folder.rglob("*") if path.is_file()] == [Path(inside).name]
    assert (folder / inside).read_text() == "years of work"


@pytest.mark.parametrize("found", ["file", "dangling link"])
def test_what_is_no_folder_is_left_alone(found: str, tmp_path: Path) -> None:
    place = tmp_path / "venv"
    if found == "file":
        place.write_text("years of work")
    else:
        place.symlink_to(tmp_path / "nowhere")
    done = bash(f"{SCRIPTS}/derive --help", LAYOUTALG_VENV=str(place))
    assert done.returncode == 2 and "left alone" in done.stderr
    assert place.is_symlink() or place.read_text() == "years of work"


@pytest.mark.parametrize("there", ["nothing", "an empty folder", "a half-made environment", "an older one"])
def test_a_place_that_is_free_or_was_made_by_the_scripts_is_theirs(there: str, tmp_path: Path) -> None:
    place = tmp_path / "venv"
    if there != "nothing":
        place.mkdir()
    if there == "a half-made environment":
        (place / ".made-by-layoutalg").touch()
        (place / "pyvenv.cfg").touch()
    if there == "an older one":
        (place / ".made-run").touch()
        (place / "pyvenv.cfg").touch()
    assert bash(f". {SCRIPTS}/lib/env.sh; is_ours", LAYOUTALG_VENV=str(place)).returncode == 0


@pytest.fixture
def tested(ready: Path) -> Path:
    """An environment with the test tools, whose programs only print how they were called."""
    for program in ("ruff", "mypy"):
        shutil.copy(ready / "bin" / "python", ready / "bin" / program)
    bash(f'. {SCRIPTS}/lib/env.sh; fingerprint dev > "$VENV/.made-dev"', LAYOUTALG_VENV=str(ready))
    return ready


@pytest.mark.parametrize("wing", WINGS)
def test_each_wing_is_tested_alone(wing: str, tested: Path) -> None:
    output = bash(f"{SCRIPTS}/test {wing} -k x", LAYOUTALG_VENV=str(tested)).stdout
    lines = [line for line in output.splitlines() if not line.startswith("test: ")]
    folders = [word for word in lines[-1].split() if "/" in word or (ROOT / word).is_dir()]
    assert all((ROOT / folder).is_dir() for folder in folders)
    assert {f"tests/descriptors/{wing}", f"descriptors/{wing}"} <= set(folders)
    assert lines == [
        f"ruff format --check {' '.join(folders)}",
        f"ruff check --quiet {' '.join(folders)}",
        f"python -m pytest -n auto --dist worksteal {' '.join(folders)} -k x",
    ]


def test_wings_are_tested_together_and_a_word_that_is_none_is_an_argument_of_pytest(tested: Path) -> None:
    def pytest_call(arguments: str) -> str:
        return (
            bash(f"{SCRIPTS}/test {arguments}", LAYOUTALG_VENV=str(tested)).stdout.splitlines()[-1].split("steal ")[1]
        )

    assert pytest_call("algebra smem") == "tests/layoutalg layoutalg tests/descriptors/smem descriptors/smem"
    assert pytest_call("--exhaustive smem") == "-m exhaustive tests/descriptors/smem descriptors/smem"
    assert pytest_call("tests/project smem") == "tests/project smem"


def test_a_link_to_a_script_runs_the_script(ready: Path, tmp_path: Path) -> None:
    link = tmp_path / "my-derive"
    link.symlink_to(SCRIPTS / "derive")
    done = bash(f"{link} --tile 8x8", LAYOUTALG_VENV=str(ready))
    assert (done.returncode, done.stdout) == (0, "descriptors derive --steps --tile 8x8\n")
