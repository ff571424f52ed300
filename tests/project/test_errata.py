"""Every row of docs/errata.md: each piece of evidence holds, and would not if it said something else."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from assembler import CASES, RECORD, is_asked, verdict, version
from demonstrations import DEMONSTRATIONS
from each import each
from places import ROOT, VECTORS

import descriptors.cli
import layoutalg.cli

DATA = json.loads((VECTORS / "errata.json").read_text(encoding="utf-8"))
EVIDENCE = [
    pytest.param(one, id=f"{row['row']}-{index}") for row in DATA["rows"] for index, one in enumerate(row["evidence"])
]
MAINS = {"descriptors": descriptors.cli.main, "layoutalg": layoutalg.cli.main}


def plain(text: str) -> str:
    """The text with single spaces: commands align their columns."""
    return " ".join(text.split())


@cache
def output(line: str) -> tuple[int, str]:
    """Exit status of a command, and what it prints."""
    name, *arguments = shlex.split(line)
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        status = MAINS[name](arguments)
    return status, plain(told.getvalue())


@cache
def record(path: str) -> dict[str, dict[str, Any]]:
    """The questions of a record, by name."""
    data = json.loads((VECTORS / path).read_text(encoding="utf-8"))
    rows = data["rows"] if "rows" in data else data["questions"]
    return {row.get("name", row["question"]): row for row in rows}


@cache
def assembled() -> dict[str, dict[str, Any]]:
    """The verdicts on record: case to version to verdict."""
    return {row["case"]: row["ptxas"] for row in json.loads(RECORD.read_text(encoding="utf-8"))["rows"]}


def command_says(one: dict[str, Any]) -> bool:
    status, told = output(one["command"])
    absent = not any(text in told for text in one.get("lacks", []))
    return status == one["status"] and absent and all(text in told for text in one["prints"])


def record_says(one: dict[str, Any]) -> bool:
    found = record(one["record"])[one["question"]]
    if "refusal" in one:
        return one["refusal"] in found["refusal"]
    if "accepts" in one:
        return set(one["accepts"]) <= set(found["accepted"]) and not set(one["refuses"]) & set(found["accepted"])
    measured = found["every_group_is_read_alike"] and found["words_that_differ_from_the_model"] == 0
    read = {
        word: digest for group in found["groups"] for word, digest in zip(group["words"], group["digests"], strict=True)
    }
    digests = {read[word] for word in one.get("alike", one.get("apart"))}
    return measured and len(digests) == (1 if "alike" in one else len(one["apart"]))


def assembler_says(one: dict[str, Any]) -> bool:
    verdicts = assembled()[one["assembler"]]
    if not one["accepted"]:
        return all(not found["accepted"] and one["error"] in found["error"] for found in verdicts.values())
    if not all(found["accepted"] for found in verdicts.values()):
        return False
    told = {tool: " ".join(found["mended"]) for tool, found in verdicts.items() if found["mended"]}
    speakers = set(one.get("by", verdicts)) if one["mended"] else set()
    return set(told) == speakers and all(text in each for text in one["mended"] for each in told.values())


def demonstration_says(one: dict[str, Any]) -> bool:
    return DEMONSTRATIONS[one["demonstration"]]() == one["gives"]


def file_says(one: dict[str, Any]) -> bool:
    text = (ROOT / one["file"]).read_text(encoding="utf-8")
    return all(fragment in text for fragment in one["has"])


JUDGES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "command": command_says,
    "record": record_says,
    "assembler": assembler_says,
    "demonstration": demonstration_says,
    "file": file_says,
}


def holds(one: dict[str, Any]) -> bool:
    """Whether a piece of evidence is as the page says."""
    (kind,) = JUDGES.keys() & one.keys()
    return JUDGES[kind](one)


def falsified(one: dict[str, Any]) -> dict[str, Any]:
    """The same evidence with something in it that is not so."""
    if "alike" in one or "apart" in one:
        words = one.get("alike", one.get("apart"))
        kept = {key: value for key, value in one.items() if key not in ("alike", "apart")}
        return {**kept, "apart" if "alike" in one else "alike": words}
    if "refuses" in one:
        return {**one, "refuses": one["accepts"]}
    if "assembler" in one:
        return {**one, "accepted": not one["accepted"], "error": "", "mended": []}
    key = next(key for key in ("prints", "refusal", "gives", "has") if key in one)
    return {**one, key: [*one[key], "not so"] if isinstance(one[key], list) else f"{one[key]} not so"}


@each("one", EVIDENCE)
def test_the_evidence_is_as_the_page_says(one: dict[str, Any]) -> None:
    assert holds(one), output(one["command"]) if "command" in one else one


@each("one", EVIDENCE)
def test_evidence_that_says_something_else_does_not_hold(one: dict[str, Any]) -> None:
    assert not holds(falsified(one))


@each("row", DATA["rows"], ids=lambda row: f"{row['row']}-{row['document']}")
def test_a_row_shows_that_the_document_is_wrong_and_what_is_right(row: dict[str, Any]) -> None:
    shown = {one["shows"] for one in row["evidence"]}
    assert shown <= {"wrong", "right", "both"}
    assert "both" in shown or shown == {"wrong", "right"}
    assert all(one["prints"] for one in row["evidence"] if "command" in one)
    assert all("lacks" in one for one in row["evidence"] if "command" in one and one["shows"] == "both")


def test_every_document_and_every_demonstration_and_every_case_is_used() -> None:
    assert [row["row"] for row in DATA["rows"]] == list(range(1, len(DATA["rows"]) + 1))
    assert list(dict.fromkeys(row["document"] for row in DATA["rows"])) == list(DATA["documents"])
    used = [one for row in DATA["rows"] for one in row["evidence"]]
    assert {one["demonstration"] for one in used if "demonstration" in one} == set(DEMONSTRATIONS)
    assert {one["assembler"] for one in used if "assembler" in one} == set(CASES) == set(assembled())


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
