"""What Hopper GPUs did with emitted programs whose protocol is spoilt, and what stands of it in the page."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from places import ROOT

from probes.fault_cases import FAULTS, source
from probes.fault_programs import ended
from probes.fault_report import checker_says, counts, mended, sanitizer_says, summary

HOPPER = ROOT / "tests" / "vectors" / "hopper"
PAGE = ROOT / "docs" / "checking-evidence.md"


def record(gpu: str, name: str = "faults") -> dict[str, dict[str, object]]:
    rows = json.loads((HOPPER / gpu / f"{name}.json").read_text(encoding="utf-8"))["faults"]
    return {row["fault"]: row for row in rows}


def rows_of_the_page() -> dict[str, list[str]]:
    table = PAGE.read_text(encoding="utf-8").split("| fault |")[1].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return {row[0]: row[1:] for row in cells}


def test_both_gpus_did_the_same_with_each_fault() -> None:
    h100, h200 = record("h100"), record("h200")
    assert list(h100) == list(h200) == [one.name for one in FAULTS]
    alike = [counts(h100[name]["runs"]) == counts(h200[name]["runs"]) for name in h200]  # type: ignore[arg-type]
    assert all(alike)


def test_the_page_has_what_was_recorded() -> None:
    product, tools, page = record("h200"), record("h200", "faults_sanitizer"), rows_of_the_page()
    assert list(page) == [one.what for one in FAULTS]
    for one in FAULTS:
        assert page[one.what][:2] == [mended(product[one.name]), sanitizer_says(tools[one.name])]


def test_each_fault_is_told_in_the_page_and_what_is_right_is_clean() -> None:
    for one in FAULTS:
        says = rows_of_the_page()[one.what][2]
        assert (says == "clean") == (not one.changes), one.name
        assert says == "clean" or says.startswith("`"), one.name


def test_the_page_has_the_sums() -> None:
    rows = [(what, *cells) for what, cells in rows_of_the_page().items()]
    assert f"{summary(rows)}. *The launch fails*" in PAGE.read_text(encoding="utf-8")


def test_each_fault_still_applies_to_the_program_of_today() -> None:
    texts = [source(one) for one in FAULTS]
    assert len(set(texts)) == len(FAULTS)


def test_who_does_not_end_is_ended_with_what_it_started() -> None:
    begun = time.monotonic()
    status, told, errors = ended(["sh", "-c", "sleep 60 & echo $!; echo wrong >&2; wait"], patience=1)
    assert (status, errors) == (None, "wrong\n") and time.monotonic() - begun < 30  # the child held both pipes
    child = Path("/proc", told.strip(), "stat")
    assert not child.exists() or child.read_text().split()[2] == "Z"
    assert ended(["sh", "-c", "echo right; exit 3"], patience=30) == (3, "right\n", "")


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("name", ["bytes-halved", "cluster-end"])
def test_the_page_has_what_the_checker_says_today(name: str, tmp_path: Path) -> None:
    (fault,) = [one for one in FAULTS if one.name == name]
    assert rows_of_the_page()[fault.what][2] == checker_says(fault, tmp_path)
