"""Whether a piece of evidence holds: what the pages of errata and of tasks show, run or looked up.

A piece of evidence is a JSON object. Its kind is the key that it has: a command of this project with its output, a
question of a record, a case of NVIDIA's assembler, a demonstration, a file with its text, a file of the installed CuTe
DSL with its text, arithmetic with its value, or a source that is cited and that no test can look up.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import io
import json
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from assembler import RECORD
from demonstrations import DEMONSTRATIONS
from places import ROOT, VECTORS

import descriptors.cli
import layoutalg.cli

MAINS = {"descriptors": descriptors.cli.main, "layoutalg": layoutalg.cli.main}
#: What arithmetic may call.
BUILTINS = {one.__name__: one for one in (hex, len, list, max, min, range, set, sorted, sum)}
#: The version of the CuTe DSL whose files the pages quote.
DSL_VERSION = "4.8.1"


def plain(text: str) -> str:
    """The text with single spaces: commands align their columns."""
    return " ".join(text.split())


@cache
def output(line: str) -> tuple[int, str]:
    """Exit status of a command, and what it prints."""
    name, *arguments = shlex.split(line)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = MAINS[name](arguments)
    return status, plain(printed.getvalue())


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
    """Whether a command ends and prints so."""
    status, text = output(one["command"])
    absent = not any(part in text for part in one.get("lacks", []))
    return status == one["status"] and absent and all(part in text for part in one["prints"])


def record_says(one: dict[str, Any]) -> bool:
    """Whether a question of a record was answered so."""
    row = record(one["record"])[one["question"]]
    if "refusal" in one:
        return one["refusal"] in row["refusal"]
    if "accepts" in one:
        return set(one["accepts"]) <= set(row["accepted"]) and not set(one["refuses"]) & set(row["accepted"])
    measured = row["every_group_is_read_alike"] and row["words_that_differ_from_the_model"] == 0
    read = {
        word: digest for group in row["groups"] for word, digest in zip(group["words"], group["digests"], strict=True)
    }
    digests = {read[word] for word in one.get("alike", one.get("apart"))}
    return measured and len(digests) == (1 if "alike" in one else len(one["apart"]))


def assembler_says(one: dict[str, Any]) -> bool:
    """Whether every version of the assembler says so of a case."""
    verdicts = assembled()[one["assembler"]]
    if not one["accepted"]:
        return all(not verdict["accepted"] and one["error"] in verdict["error"] for verdict in verdicts.values())
    if not all(verdict["accepted"] for verdict in verdicts.values()):
        return False
    mended = {tool: " ".join(verdict["mended"]) for tool, verdict in verdicts.items() if verdict["mended"]}
    speakers = set(one.get("by", verdicts)) if one["mended"] else set()
    return set(mended) == speakers and all(text in each for text in one["mended"] for each in mended.values())


def demonstration_says(one: dict[str, Any]) -> bool:
    """Whether a demonstration ends so."""
    return DEMONSTRATIONS[one["demonstration"]]() == one["gives"]


def file_says(one: dict[str, Any]) -> bool:
    """Whether a file of this repository has the text."""
    text = (ROOT / one["file"]).read_text(encoding="utf-8")
    return all(fragment in text for fragment in one["has"])


@cache
def dsl_folder() -> Path | None:
    """Return the folder of the CuTe DSL's Python files if the version that the pages cite is installed."""
    spec = importlib.util.find_spec("cutlass")
    if spec is None or spec.origin is None or not dsl_version().startswith(DSL_VERSION):
        return None
    return Path(spec.origin).parents[1]


def dsl_version() -> str:
    """Return the version of the installed CuTe DSL, or an empty string."""
    try:
        return importlib.metadata.version("nvidia-cutlass-dsl")
    except importlib.metadata.PackageNotFoundError:
        return ""


def dsl_says(one: dict[str, Any]) -> bool:
    """Whether a file of the installed CuTe DSL contains the text."""
    folder = dsl_folder()
    assert folder is not None, "the CuTe DSL is not installed"
    text = (folder / one["dsl"]).read_text(encoding="utf-8")
    return all(fragment in text for fragment in one["has"])


def arithmetic_says(one: dict[str, Any]) -> bool:
    """Whether an expression, in Python's notation, has the value."""
    return str(eval(one["arithmetic"], {"__builtins__": BUILTINS})) == one["gives"]  # noqa: S307  # a page of ours


JUDGES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "command": command_says,
    "record": record_says,
    "assembler": assembler_says,
    "demonstration": demonstration_says,
    "file": file_says,
    "dsl": dsl_says,
    "arithmetic": arithmetic_says,
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
