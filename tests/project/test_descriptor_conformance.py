"""The conformance suite of descriptors: it is what the package derives, and two readers in other languages agree."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from each import each
from jsonschema import Draft202012Validator
from places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from make_descriptor_conformance import FILE, ROWS, SCHEMA, answer_of

SUITE = json.loads(FILE.read_text(encoding="utf-8"))
CASES = SUITE["cases"]
READERS = ROOT / "docs" / "examples" / "conformance"
COMMANDS = {
    "descriptors.cpp": ["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-o", "reader"],
    "descriptors.rs": ["rustc", "--edition", "2021", "-D", "warnings", "-o", "reader"],
}
#: What other tools say about a row.
MARKS = {"confirmed", "dsl"}


@each("part", range(2))
def test_a_sample_of_the_rows_is_what_derive_returns_and_the_read_model_confirms(part: int) -> None:
    for row in CASES[part * 14 :: 28]:
        answer = answer_of(row)
        assert {key: row.get(key) for key in answer.keys() - MARKS} == {
            key: answer[key] for key in answer.keys() - MARKS
        }
        assert "refused" in answer or set(answer["confirmed"]) <= set(row["confirmed"])


def test_each_row_has_the_schema() -> None:
    assert SUITE["schema of a row"] == SCHEMA
    validator = Draft202012Validator(SCHEMA)
    assert [error.message for row in CASES[::5] for error in validator.iter_errors(row)] == []
    spoilt = {**CASES[0], "arch": "sm80"}
    assert not validator.is_valid(spoilt)


def test_the_head_counts_the_rows_and_who_confirms_them() -> None:
    answered = [row for row in CASES if "refused" not in row]
    assert len(CASES) == SUITE["cases in all"] == ROWS
    assert SUITE["counts"] == Counter(name for row in CASES for name in row.get("confirmed", ["refused"]))
    for row in answered:
        assert {"walk", "coq"} <= set(row["confirmed"]), row
        assert ("dsl" in row["confirmed"]) == (row["dsl"] == "same")
    assert {row["arch"] for row in answered} == {"sm90", "sm100", "sm103", "sm107"}
    for name, least in (("major", 2), ("swizzle", 5), ("dtype", 11)):
        assert len({row[name] for row in answered}) == least


@pytest.fixture(scope="module", params=COMMANDS)
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    command = COMMANDS[request.param]
    # A compiler may be on the path and not installed: that of Rust is then a program that installs it.
    if shutil.which(command[0]) is None or subprocess.run([command[0], "--version"], capture_output=True).returncode:
        pytest.skip(f"no {command[0]}")
    folder = tmp_path_factory.mktemp("reader")
    subprocess.run([*command, str(READERS / request.param)], check=True, cwd=folder)
    return folder / "reader"


def test_a_reader_derives_each_row_of_atoms(reader: Path) -> None:
    done = subprocess.run([str(reader), str(FILE)], capture_output=True, text=True)
    counts = {arch: [0, 0] for arch in ("sm100", "sm103", "sm107", "sm90")}
    for row in CASES:
        if "refused" not in row:
            counts[row["arch"]][row["mma"][1] == 96] += 1
    lines = [f"{arch}: {right} right, 0 wrong, {left} not offered" for arch, (right, left) in counts.items()]
    total = f"{len(CASES)} rows, {SUITE['counts']['refused']} of them refused and not compared"
    assert (done.stdout.splitlines(), done.returncode) == ([*lines, total], 0)


def test_a_reader_reports_a_wrong_descriptor(reader: Path, tmp_path: Path) -> None:
    row = next(row for row in CASES if "refused" not in row and row["mma"][1] != 96)
    read = ~int(row["ignored"], 16) & 1 << 32 or 1
    changed = [{**row, name: f"{int(row[name], 16) ^ read:#018x}"} for name in ("word", "last")]
    path = tmp_path / "rows.json"
    path.write_text("".join(f"    {json.dumps(case)},\n" for case in (row, *changed)), encoding="utf-8")
    done = subprocess.run([str(reader), str(path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"{row['arch']}: 1 right, 2 wrong, 0 not offered" in done.stdout.splitlines()
