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
#: Introduction of each page, by the name of its source.
INTRODUCTIONS = {
    "errata": """\
This page lists places in five source documents and in texts of NVIDIA that differ from what we found: {count} rows, in
our own words. Row numbers are stable; a removed row leaves a gap. Each row has a category:

- **wrong**: evidence that does not come from this project contradicts the statement, or a computation from the
  definition does (demonstration, arithmetic), or the document contradicts itself.
- **contradicted**: another source (a manual, NVIDIA's compiler or code) says otherwise. We do not know which is right.
- **imprecise**: the statement is true in the document's example or in most cases, but not as generally as it is worded.

The evidence follows. `tests/project/test_errata.py` checks all of it except *sources*, which are cited:

- *record*: a file under `tests/vectors/hopper/`, measured on a Hopper GPU (`refused_by_ptxas.json`: the assembler).
- *ptxas*: NVIDIA's assembler, {versions}, or the last one alone: most of these cases need a newer PTX, three were
  added later. The PTX and the results are in `tests/vectors/errata_ptxas.json`.
- *CuTe DSL*: a file of `nvidia-cutlass-dsl` 4.8.1 with the text in it.
- *demonstration*: the claim and its correction, computed side by side in `tests/judge/demonstrations.py` and
  `printed.py`.
- *arithmetic*: a Python expression and its value.
- *source*: a published text of NVIDIA, in our words.
- *see also*: a command of this project that shows the subject. It is not evidence by itself.

Nothing about sm100, sm103, sm107 or sm110 was measured. Texts that others learn from, such as skills and wikis, have a
[page of their own](published.md).
""",
    "published": """\
This page lists statements about descriptors, swizzles, tensor memory and their instructions in public repositories,
each at the commit or release that is named, in our own words: {count} rows. Each row has evidence that does not come
from this project: a measurement on a Hopper GPU (*record*), NVIDIA's assembler (*ptxas*, {versions}), a descriptor that
NVIDIA's compiler wrote, a published text of NVIDIA (*source*), or arithmetic. The categories and the kinds of evidence
are those of [errata](errata.md). Nothing about sm100 was measured.

Corrected texts and texts that turned out to be right are not listed. A slip says nothing about the rest of the work.
For each owner there is a short draft of an issue or a pull request in [drafts](drafts/README.md); none has been sent.
""",
}


HEADER = ["#", "place", "category", "the text says", "we found", "evidence"]


def code(text: str) -> str:
    return f"`{text}`"


def evidence_text(one: dict[str, Any]) -> str:
    """Return a piece of evidence as one line of text."""
    if "command" in one:
        verb = "refuses:" if one["status"] == 2 else "prints"
        return f"see also {code(one['command'])}, which {verb} {', '.join(map(code, one['prints']))}"
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
        return f"demonstration {code(one['demonstration'])}: {one['gives']}"
    if "arithmetic" in one:
        return f"{code(one['arithmetic'])} is {one['gives']}"
    if "source" in one:
        return f"source: {one['source']}: {one['states']}"
    if "dsl" in one:
        return f"CuTe DSL, {code(one['dsl'])} has {', '.join(f'`` {text} ``' for text in one['has'])}"
    return f"{code(one['file'])} has {', '.join(map(code, one['has']))}"


def table(rows: list[list[str]]) -> list[str]:
    head, *body = [[part.replace("|", "\\|") for part in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body)]


def row_of(row: dict[str, Any]) -> list[str]:
    evidence = "<br>".join(map(evidence_text, row["evidence"]))
    return [str(row["row"]), row["place"], row["category"], row["says"], row["is"], evidence]


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
        lines += [
            *about(head),
            *table([["#", "place", "category", "the text says", "we found", "evidence"], *rows]),
            "",
        ]
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
