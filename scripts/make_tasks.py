#!/usr/bin/env python3
"""Write docs/tasks.md from tests/vectors/tasks.json, its only source.

Usage: python scripts/make_tasks.py [--check]      --check only compares, and exits 1 if the page is out of date
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts"), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402
from make_errata import code, evidence_text, table  # noqa: E402

from descriptors.cli.mcp import command_line  # noqa: E402

PAGE = ROOT / "docs" / "tasks.md"
INTRODUCTION = """\
<!-- Written by scripts/make_tasks.py from tests/vectors/tasks.json. Do not edit. -->

This page shows what the tool answers to {count} questions that people asked in public, next to what the threads say.
Use it to judge which kinds of questions a coding agent can pass to the tool ([agents](agents.md)).

## How to read the table

- *Without* summarizes what the thread, or the text it is about, said when we read it in November 2026.
- *Call* is the call to `layoutalg mcp`, written as a command line. An MCP client made the call over standard input
  and output, with the protocol's official package.
- *With* is the verdict of the call in italics, and parts of its answer.
- *Checked by* is the evidence for the answer: a *record* is a measurement on a Hopper GPU, *ptxas* is NVIDIA's
  assembler, and a file contains descriptors and layouts from NVIDIA's own code.

`tests/descriptors/cli/test_tasks.py` makes each call and compares the answer. It also runs the evidence or looks it
up. In tasks 16, 18 and 19 the arithmetic only restates the answer; its source is the thread. Nothing about sm100 was
measured.

## Limits

- We chose the tasks and did not sample them. They are the kinds of questions that this tool is for.
- In several threads people found the same answer themselves, some after days or on a GPU.
- The table shows no answers of a language model. It does not measure what an agent writes with or without the tool.
- Sometimes the tool has no answer. It refuses a composition that does not exist (13). For a pair with M 128 it
  refuses one kind and marks the other answer as believed only (19). For SM120 there is no descriptor to derive (20).
  If the kernel text does not contain the descriptors, the check of the descriptors is incomplete (8).

## The questions
"""


def call_text(one: dict[str, Any]) -> str:
    """A call, as a person would type it."""
    typed = shlex.join(command_line(one["tool"], one["arguments"]))
    return f"`{one['tool']}`: {code(typed)}" + (" of a kernel" if "text" in one["arguments"] else "")


def answer_text(one: dict[str, Any]) -> str:
    """The verdict of a call, and what its answer says."""
    return f"*{one['verdict']}*: {'; '.join(map(code, one['says']))}"


def row_of(row: dict[str, Any]) -> list[str]:
    return [
        str(row["task"]),
        f"{row['question']} [{row['thread']}]({row['link']}), {row['year']}",
        row["without"],
        "<br>".join(map(call_text, row["calls"])),
        "<br>".join(map(answer_text, row["calls"])),
        "<br>".join(map(evidence_text, row["judged"])),
    ]


def page(data: dict[str, Any]) -> str:
    """The whole page."""
    introduction = INTRODUCTION.format(count=len(data["rows"]))
    head = ["#", "question", "without", "call", "with", "checked by"]
    return "\n".join([f"# {data['title']}", "", introduction, *table([head, *map(row_of, data["rows"])])]) + "\n"


def main(arguments: list[str]) -> int:
    data = json.loads((ROOT / "tests" / "vectors" / "tasks.json").read_text(encoding="utf-8"))
    return write_or_check(PAGE, page(data), "make_tasks.py", __doc__, arguments)


if __name__ == "__main__":
    end(main, sys.argv[1:])
