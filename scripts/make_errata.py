#!/usr/bin/env python3
"""Write docs/errata.md and docs/published.md from errata.json and published.json of tests/vectors, their only sources.

Usage: python scripts/make_errata.py [--check]      --check only compares, and exits 1 if a page is out of date
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402

VECTORS = ROOT / "tests" / "vectors"
DOCS = ROOT / "docs"
WRITTEN = "<!-- Written by scripts/make_errata.py from tests/vectors/{source}. Do not edit. -->"
#: Name of a page, and of its source, to how it begins.
INTRODUCTIONS = {
    "errata": """\
Five documents taught this project what it is about, and they contain errors, as some texts of NVIDIA behind them do,
the manual among them: {count} rows, in our words, whose numbers stay. What is right stands beside what the document
says, and the evidence shows both; `tests/project/test_errata.py` runs or looks up every piece of it. What counts as
evidence:

- *record*: a file under `tests/vectors/hopper/`, measured on a Hopper GPU; `refused_by_ptxas.json` is the assembler's.
- *ptxas*: NVIDIA's assembler, {versions}; the PTX and the verdicts are in `tests/vectors/errata_ptxas.json`, and an
  assembler that is installed is asked again.
- a command of this project, with what it prints or the reason for which it refuses (exit status 2).
- *run*: the claim done in small beside what is right, in `tests/judge/demonstrations.py` and `printed.py` there, whose
  docstrings say what is modelled; a first wrong output is (image, row, column, filter), what was found for what is
  right.

Nothing about sm100 was measured; there the evidence is NVIDIA's assembler and compiler, and arithmetic. Skills, wikis
and headers that others learn from have a [page of their own](published.md).
""",
    "published": """\
Texts that people and coding agents learn from, of public repositories, each as of the commit that is named: what they
say of descriptor words, swizzles, tensor memory and the instructions around them, in our words, and what is so, in
{count} rows. Each was judged by something that is not ours: a measurement on a Hopper GPU (*record*), NVIDIA's
assembler (*ptxas*, {versions}), a word of NVIDIA's compiler, arithmetic; and by a command of ours, where one says it,
that can be copied and tried. `tests/project/test_errata.py` runs or looks up every piece. Nothing about sm100 was
measured.

Texts that have been corrected, and texts that turned out right, are left out; a slip says nothing of the work around
it. For each owner there is a short draft of an issue or a pull request in [drafts](drafts/README.md); none has been
sent. [Errata](errata.md) has the articles and the manuals.
""",
}


def code(text: str) -> str:
    return f"`{text}`"


def evidence_text(one: dict[str, Any]) -> str:
    """A piece of evidence in a line."""
    if "command" in one:
        verb = "refuses:" if one["status"] == 2 else "prints"
        return f"{code(one['command'])} {verb} {', '.join(map(code, one['prints']))}"
    if "record" in one:
        name = f"record {code(Path(one['record']).name)}, {code(one['question'])}"
        if "refusal" in one:
            return f"{name}: refused, {code(one['refusal'])}"
        if "accepts" in one:
            return f"{name}: accepted {', '.join(map(str, one['accepts']))}; not {', '.join(map(str, one['refuses']))}"
        words = ", ".join(map(code, one.get("alike", one.get("apart"))))
        return f"{name}: {words} read {'the same places' if 'alike' in one else 'different places'}"
    if "assembler" in one:
        if not one["accepted"]:
            return f"ptxas, {code(one['assembler'])}: refused, {code(one['error'])}"
        by = f" (only {' and '.join(one['by'])})" if "by" in one else ""
        mended = f", says {', '.join(map(code, one['mended']))}{by}" if one["mended"] else " without a word"
        return f"ptxas, {code(one['assembler'])}: accepted{mended}"
    if "demonstration" in one:
        return f"run {code(one['demonstration'])}: {one['gives']}"
    if "arithmetic" in one:
        return f"{code(one['arithmetic'])} is {one['gives']}"
    return f"{code(one['file'])} has {', '.join(map(code, one['has']))}"


def table(rows: list[list[str]]) -> list[str]:
    head, *body = [[part.replace("|", "\\|") for part in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body)]


def row_of(row: dict[str, Any]) -> list[str]:
    return [str(row["row"]), row["place"], row["says"], row["is"], "<br>".join(map(evidence_text, row["evidence"]))]


def about(document: dict[str, str]) -> list[str]:
    """The head of a document's rows: its name, where it is, and what its owner would be sent."""
    places = [f"[{document['link']}]({document['link']})"] if "link" in document else []
    places += [f"[draft for its owner](drafts/{document['draft']})"] if "draft" in document else []
    return [f"## {document['name']}", "", *([", ".join(places), ""] if places else [])]


def page(name: str, data: dict[str, Any], versions: list[str]) -> str:
    """The whole page."""
    introduction = INTRODUCTIONS[name].format(count=len(data["rows"]), versions=" and ".join(versions))
    lines = [f"# {data['title']}", "", WRITTEN.format(source=f"{name}.json"), "", introduction]
    for document, head in data["documents"].items():
        rows = [row_of(row) for row in data["rows"] if row["document"] == document]
        lines += [*about(head), *table([["#", "place", "says", "is", "evidence"], *rows]), ""]
    return "\n".join(lines).rstrip() + "\n"


def main(arguments: list[str]) -> int:
    versions = json.loads((VECTORS / "errata_ptxas.json").read_text(encoding="utf-8"))["versions"]
    ends = []
    for name in INTRODUCTIONS:
        data = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))
        text = page(name, data, versions)
        ends.append(write_or_check(DOCS / f"{name}.md", text, "make_errata.py", __doc__, arguments))
    return max(ends)


if __name__ == "__main__":
    end(main, sys.argv[1:])
