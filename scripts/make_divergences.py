#!/usr/bin/env python3
"""Write docs/divergences.md from tests/vectors/divergences.json, its only source.

Usage: python scripts/make_divergences.py [--check]      --check only compares, and exits 1 if the page is out of date
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "judge"), str(ROOT / "scripts" / "lib")]

import cute_ir  # noqa: E402
from cases import spelled, spelled_value  # noqa: E402
from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402

SOURCE = ROOT / "tests" / "vectors" / "divergences.json"
PAGE = ROOT / "docs" / "divergences.md"
INTRODUCTION = """\
<!-- Written by scripts/make_divergences.py from tests/vectors/divergences.json. Do not edit. -->

Each operation of this package returns a layout that satisfies its definition, or raises a typed error that says why
there is none. Other implementations define some operations differently, accept inputs that their documentation does not
describe, or have defects. The first part of this page states the conventions of this package. The second part has
{count} rows, each with one or more inputs on which implementations differ ({text} of them only in the text of the
answer). Each row says what the definition gives, what each tool answers, and what the tool's own documentation says. An
answer is called wrong only if it violates the tool's own documented definition.

`tests/project/test_divergences.py` tests every example and every row. It checks each answer of this package against the
definition by enumeration, and runs the CuTe DSL where it is installed. You can try any line:
`layoutalg eval "composition((5,3):(7,1), 2:3)"`.
"""

CUTE_IR = """\
CuTe IR is the open compiler dialect of CUTLASS (`cutlass_compiler/cute_ir`). Its tests contain the operands and the
result of each operation. `scripts/compare_cute_ir.py` evaluates a recorded part of them (`tests/vectors/cute_ir.json`)
with the public functions of this package, and lists the cases that do not agree. A text that differs counts as the same
function only if enumeration shows it. A `?` is a number that is known at run time; it is read as a symbol. *Same for
numbers* are cases that cannot be decided for all values of the symbols, for example because a coordinate `?` may be
outside the shape; they agree for each sample of numbers that was tried. The last columns are uses that CuTe IR rejects.
Those accepted here have a tuple of another kind (`coord`, `shape`, `int_tuple`; all are Python tuples here), or an
operand that CuTe IR does not support.
"""


def cute_ir_table() -> list[str]:
    """Return the counts of the CuTe IR cases by group of operations and verdict."""
    _, compared = cute_ir.table(cute_ir.read_cases())
    groups: dict[str, Counter[str]] = {}
    for case, comparison in compared:
        topic = case["file"].split("/")[-2]
        kind = cute_ir.group(case)
        verdict = f"{kind}: {comparison.verdict}" if kind == "rejected" else comparison.verdict
        groups.setdefault(topic, Counter())[verdict] += 1
    verdicts = [*cute_ir.ANSWERED, *(f"rejected: {verdict}" for verdict in cute_ir.REJECTED)]
    total = sum(groups.values(), Counter())
    shown = [verdict for verdict in verdicts if total[verdict] or verdict in ("refused", "different")]
    rows = [["operations", *shown]]
    for topic, counts_of_topic in [*groups.items(), ("all", total)]:
        rows.append([topic, *(str(counts_of_topic[verdict]) for verdict in shown)])
    return table(rows)


#: The kinds of cells that say how an answer differs from ours.
KINDS = ("wrong", "imprecise", "outside", "convention", "refuses", "crashes")


def differs_in_text(row: dict[str, Any]) -> bool:
    """Whether every implementation gives the same function."""
    return all(cell.startswith(("agrees", "not ")) for cell in row["peers"].values())


def code(text: str) -> str:
    return f"`{text}`"


def outcome(case: dict[str, Any]) -> str:
    """What we do with a case: the answer, or the kind of error."""
    return f"raises {code(case['refused'])}" if "refused" in case else code(spelled_value(case["answer"]))


def cell(text: str) -> str:
    """A peer's cell with its layouts as code and wrong answers in bold."""
    kind, separator, answer = text.partition(": ")
    if not separator:
        kind, separator, answer = text.partition(", as ")
    if kind == "agrees":
        return f"agrees, as {code(answer)}" if answer else text
    text_shown = f"{kind}: {code(answer)}" if answer and ":" in answer else text
    return f"**{text_shown}**" if text.startswith("wrong") else text_shown


def table(rows: list[list[str]]) -> list[str]:
    head, *body = [[part.replace("|", "\\|") for part in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body)]


def page(data: dict[str, Any]) -> str:
    """The whole page."""
    rows = data["rows"]
    introduction = INTRODUCTION.format(count=len(rows), text=sum(map(differs_in_text, rows)))
    lines = [f"# {data['title']}", "", introduction, "## What we chose", ""]
    for choice in data["semantics"]:
        lines += [f"### {choice['title']}", "", choice["text"], ""]
        lines += [
            f"- `{spelled(case['operation'], case['operands'])}` → {outcome(case)}" for case in choice["examples"]
        ]
        lines.append("")
    lines += ["## Who does what", "", f"Measured {data['measured']}.", ""]
    lines += [f"- **{name}**: {version}" for name, version in data["peers"].items()]
    lines += ["", "The cells:", ""] + [f"- *{kind}*: {meaning}" for kind, meaning in data["cells"].items()] + [""]
    lines += ["Number of rows by tool:", "", *counts(data), ""]
    lines += ["## NVIDIA's CuTe IR tests", "", CUTE_IR, *cute_ir_table(), ""]
    sections = dict.fromkeys(row["section"] for row in data["rows"])
    for section in sections:
        head = ["#", "input", "what the definition gives", "layoutalg", *data["peers"], "what the tools document"]
        lines += [f"### {section}", ""] + table(
            [head] + [row_of(row) for row in data["rows"] if row["section"] == section]
        )
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def row_of(row: dict[str, Any]) -> list[str]:
    inputs = "<br>".join(code(spelled(case["operation"], case["operands"])) for case in row["cases"])
    ours = "<br>".join(map(outcome, row["cases"]))
    why = row["definition"] + (f" ({row['source']})" if "source" in row else "")
    return [str(row["row"]), inputs, why, ours, *map(cell, row["peers"].values()), row.get("documented", "")]


def counts(data: dict[str, Any]) -> list[str]:
    """Return a table of the number of rows by tool and kind; a cell of two answers counts for the first kind."""
    rows = [["tool", *KINDS]]
    for peer in data["peers"]:
        cells = [row["peers"][peer] for row in data["rows"]]
        kinds = [next((kind for kind in KINDS if kind in text), None) for text in cells]
        rows.append([peer, *(str(kinds.count(kind)) for kind in KINDS)])
    return table(rows)


def main(arguments: list[str]) -> int:
    return write_or_check(
        PAGE, page(json.loads(SOURCE.read_text(encoding="utf-8"))), "make_divergences.py", __doc__, arguments
    )


if __name__ == "__main__":
    end(main, sys.argv[1:])
