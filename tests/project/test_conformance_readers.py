"""The two readers of the conformance suite in docs/examples, built and run: what they count is what the file holds."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from places import ROOT

FILE = ROOT / "tests" / "vectors" / "conformance.json"
READERS = ROOT / "docs" / "examples" / "conformance"
SUITE = json.loads(FILE.read_text(encoding="utf-8"))
COMMANDS = {
    "reader.cpp": ["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-o", "reader"],
    "reader.rs": ["rustc", "--edition", "2021", "-D", "warnings", "-o", "reader"],
}


@pytest.fixture(scope="module", params=COMMANDS)
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    command = COMMANDS[request.param]
    # A compiler may be on the path and not installed: that of Rust is then a program that installs it.
    if shutil.which(command[0]) is None or subprocess.run([command[0], "--version"], capture_output=True).returncode:
        pytest.skip(f"no {command[0]}")
    folder = tmp_path_factory.mktemp("reader")
    subprocess.run([*command, str(READERS / request.param)], check=True, cwd=folder)
    return folder / "reader"


def plain(value: object) -> bool:
    """What the readers' own operations take: a layout of numbers, without a swizzle and without coordinates."""
    return isinstance(value, str) and not any(sign in value for sign in ("S", "@", " o "))


def counted() -> dict[str, tuple[int, int]]:
    """How many cases of each operation a reader runs, and how many it leaves out."""
    counts: dict[str, tuple[int, int]] = {}
    for case in SUITE["cases"]:
        first, *others = case["operands"]
        takes = {
            "size": plain(first),
            "coalesce": plain(first) and not others,
            "crd2idx": isinstance(first, int) and bool(others) and plain(others[0]),
        }.get(case["operation"])
        if takes is not None:
            runs, left = counts.get(case["operation"], (0, 0))
            counts[case["operation"]] = (runs + takes, left + (not takes))
    return counts


@pytest.mark.parametrize("against", ["", "dsl", "cpp"])
def test_a_reader_runs_its_operations_and_counts_all_cases(reader: Path, against: str) -> None:
    done = subprocess.run([str(reader), str(FILE), *([against] if against else [])], capture_output=True, text=True)
    counts = counted()
    differ = [
        case
        for case in SUITE["cases"]
        if against and case["operation"] in counts and case[against] not in ("same", "refused", "unasked")
        if all(plain(one) or isinstance(one, int) for one in case["operands"])
    ]
    assert differ == []  # of these three operations CuTe and the definition say the same
    wanted = [f"{name}: {runs} right, 0 wrong, {left} not offered" for name, (runs, left) in sorted(counts.items())]
    assert (done.stdout.splitlines(), done.returncode) == ([*wanted, f"{len(SUITE['cases'])} cases"], 0)


def test_a_reader_tells_a_wrong_answer(reader: Path, tmp_path: Path) -> None:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    at = next(
        i
        for i, line in enumerate(lines)
        if '"operation": "size"' in line and plain(json.loads(line.strip(" ,"))["operands"][0])
    )
    case = json.loads(lines[at].strip(" ,"))
    lines[at] = "    " + json.dumps(case | {"answer": case["answer"] + 1}) + ","
    spoilt = tmp_path / "spoilt.json"
    spoilt.write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run([str(reader), str(spoilt)], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.count("WRONG: ") == 1
    assert f"found {case['answer']}, not {case['answer'] + 1}" in done.stdout


def test_a_reader_takes_the_answers_of_cute_where_it_is_asked_to(reader: Path, tmp_path: Path) -> None:
    """A made-up mark, as none of the three operations differs: the answer of the definition is wrong then."""
    case = {"operation": "size", "operands": ["(4,8):(1,4)"], "answer": 32}
    line = "    " + json.dumps(case | {"dsl": "other", "dsl_answer": "33", "cpp": "refused"})
    file = tmp_path / "one.json"
    file.write_text(line + "\n", encoding="utf-8")
    results = [
        subprocess.run([str(reader), str(file), *who], capture_output=True, text=True) for who in ([], ["dsl"], ["cpp"])
    ]
    assert [one.returncode for one in results] == [0, 1, 1]
    assert "found 32, not 33" in results[1].stdout and "found 32, not refused" in results[2].stdout
