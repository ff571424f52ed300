"""Every row of the pages of errata: each piece of evidence holds, and would not if it said something else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from typing import Any

import pytest
from assembler import CASES, RECORD, is_asked, verdict, version
from demonstrations import DEMONSTRATIONS
from each import each
from errata_evidence import DSL_VERSION, assembled, dsl_folder, falsified, holds, output
from places import ROOT, VECTORS

needs_dsl = pytest.mark.skipif(dsl_folder() is None, reason=f"the CuTe DSL {DSL_VERSION} is not installed")
PAGES = {name: json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8")) for name in ("errata", "published")}
ROWS = [pytest.param(row, id=f"{name}-{row['row']}") for name, data in PAGES.items() for row in data["rows"]]
EVIDENCE = [
    pytest.param(one, id=f"{name}-{row['row']}-{index}")
    for name, data in PAGES.items()
    for row in data["rows"]
    for index, one in enumerate(row["evidence"])
    if "source" not in one
]
OF_DSL = [param for param in EVIDENCE if "dsl" in param.values[0]]
OTHER_EVIDENCE = [param for param in EVIDENCE if param not in OF_DSL]
#: The kinds of evidence that do not come from a command of this project.
INDEPENDENT = {"record", "assembler", "demonstration", "file", "arithmetic", "dsl", "source"}
CATEGORIES = {"wrong", "contradicted", "imprecise"}


@each("one", OTHER_EVIDENCE)
def test_the_evidence_is_as_the_page_says(one: dict[str, Any]) -> None:
    assert holds(one), output(one["command"]) if "command" in one else one


@each("one", OTHER_EVIDENCE)
def test_evidence_that_says_something_else_does_not_hold(one: dict[str, Any]) -> None:
    assert not holds(falsified(one))


@needs_dsl
@each("one", OF_DSL)
def test_the_evidence_in_the_dsl_is_as_the_page_says_and_nothing_else(one: dict[str, Any]) -> None:
    assert holds(one) and not holds(falsified(one)), one


@each("row", ROWS)
def test_a_row_has_a_category_and_independent_evidence(row: dict[str, Any]) -> None:
    independent = [one for one in row["evidence"] if INDEPENDENT & one.keys()]
    assert row["category"] in CATEGORIES
    assert independent
    assert all(one["shows"] in {"wrong", "right", "both"} for one in row["evidence"])
    assert all(one["prints"] for one in row["evidence"] if "command" in one)


@each("row", ROWS)
def test_evidence_files_are_records_and_not_code_of_this_project(row: dict[str, Any]) -> None:
    files = [one["file"] for one in row["evidence"] if "file" in one]
    assert all(name.startswith(("tests/vectors/", "tests/descriptors/oracle/")) for name in files)


@each("row", ROWS)
def test_a_cited_source_names_a_version_or_a_commit(row: dict[str, Any]) -> None:
    for one in row["evidence"]:
        if "source" in one:
            assert re.search(r"PTX ISA \d+\.\d|commit [0-9a-f]{7}", one["source"]), one
            assert one["states"]


def test_every_document_and_every_demonstration_and_every_case_is_used() -> None:
    for data in PAGES.values():
        numbers = [row["row"] for row in data["rows"]]
        assert numbers == sorted(set(numbers))
        assert list(dict.fromkeys(row["document"] for row in data["rows"])) == list(data["documents"])
    used = [one for data in PAGES.values() for row in data["rows"] for one in row["evidence"]]
    assert {one["demonstration"] for one in used if "demonstration" in one} == set(DEMONSTRATIONS)
    assert {one["assembler"] for one in used if "assembler" in one} == set(CASES) == set(assembled())


def test_every_draft_is_of_a_document_and_short() -> None:
    drafts = {one["draft"] for data in PAGES.values() for one in data["documents"].values() if "draft" in one}
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "drafts").glob("*.md")}
    index = texts.pop("README.md")
    assert set(texts) == drafts == set(re.findall(r"\]\((.+?\.md)\)", index)) - {"../published.md", "../errata.md"}
    for name, text in texts.items():
        assert re.match(r"# .+\n\nTo: .+\n\n", text) and "```console\n$ " in text, name
        assert len(text.splitlines()) <= 75, name


def test_the_record_has_the_cases_as_they_are_put_to_the_assembler() -> None:
    rows = json.loads(RECORD.read_text(encoding="utf-8"))["rows"]
    assert {row["case"]: (row["target"], row["body"]) for row in rows} == CASES


@cache
def at_hand() -> str | None:
    """Version of the assembler at hand, if it knows the PTX of the cases."""
    found = version("ptxas") if shutil.which("ptxas") else "V0.0"
    return found if tuple(map(int, re.findall(r"\d+", found)))[:2] >= (13, 0) else None


@pytest.mark.skipif(at_hand() is None, reason="ptxas of CUDA 13.0 or later is not installed")
@each("case", [name for name in CASES if is_asked(at_hand() or "V13.0", name)])
def test_the_assembler_at_hand_says_what_is_on_record(case: str) -> None:
    found, recorded = verdict("ptxas", case), assembled()[case]
    assert {one["accepted"] for one in recorded.values()} == {found["accepted"]}
    assert recorded.get(str(at_hand()), found) == found


def test_the_page_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_errata.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
