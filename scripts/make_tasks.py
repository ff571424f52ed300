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

Questions that people asked in public, each put to `layoutalg mcp` as an agent's client puts it, over standard input and
output with the official package of the protocol. *Without* is what the thread, or the text it is about, says, as read
in November 2026 and in our words; *with* is the verdict of the call and what its answer says. No model's answers are
shown: what an agent writes after reading one or the other is not ours to say.

`tests/descriptors/cli/test_tasks.py` makes every call and compares. The last column has the evidence for the answer,
which the test runs or looks up (the arithmetic of 16, 18 and 19 restates the answer; its source is the thread):
*record* is a measurement on a Hopper GPU, *ptxas* NVIDIA's assembler, a file has words and layouts of NVIDIA's
own code.
Nothing about sm100 was measured.

The {count} tasks were picked, not drawn: they are of the kinds that this tool is for. Several threads came to the same
answer, by hand, after days or on a GPU. Where the tool has none it says so: a composition that does not
exist is refused (13); of a pair with M 128 one kind is refused, and the other answered as believed only (19); for SM120
there is no descriptor to derive (20); and of a kernel whose words nothing fills, the words are incomplete (8).
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
    head = ["#", "question", "without", "call", "with", "judged by"]
    return "\n".join([f"# {data['title']}", "", introduction, *table([head, *map(row_of, data["rows"])])]) + "\n"


def main(arguments: list[str]) -> int:
    data = json.loads((ROOT / "tests" / "vectors" / "tasks.json").read_text(encoding="utf-8"))
    return write_or_check(PAGE, page(data), "make_tasks.py", __doc__, arguments)


if __name__ == "__main__":
    end(main, sys.argv[1:])
