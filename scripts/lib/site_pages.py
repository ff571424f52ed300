"""The pages of the site as Markdown, by their paths in it: those that are written, and those made from tables.

The site has the folders of the checkout, so that a link of a page holds here as it does there. What a page links to
that is no page is a file of the site; a lesson is the page that the builder of the course makes of it.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Any

from descriptors.check.rules import PROPERTIES, RULES, Rule, decided_by, rule_text

ROOT = Path(__file__).resolve().parents[2]
#: The list of pages, with their titles and in their order.
LIST = ROOT / "docs" / "llms.txt"
#: What the first page is called here.
FIRST = {"README.md": "index.md"}
CORPUS, EXAMPLES = "tests/vectors/conformance.json", "tests/vectors/rule_examples.json"
_LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
#: How Sphinx is told that a page stands in no list.
_UNLISTED = "---\norphan: true\n---\n\n"
_LESSON = re.compile(r"course/(\d\d)-[a-z]+\.md")


def written() -> tuple[dict[str, str], dict[str, bytes]]:
    """The pages of the list and those of docs that they link to, and the files beside them."""
    listed = [path for _, rows in sections() for _, path in rows]
    names = [*listed]  # which grows while links are followed
    images = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.svg")} | {"docs/explorer.png"}
    files: dict[str, bytes] = {name: (ROOT / name).read_bytes() for name in images}
    pages = {}
    for name in names:
        text = ("" if name in listed else _UNLISTED) + (ROOT / name).read_text(encoding="utf-8")
        pages[FIRST.get(name, name)] = _LINK.sub(lambda link, at=name: _link(link, at, names, files), text)  # type: ignore[misc]
    pages["index.md"] += "".join(contents())
    return pages, files


def sections() -> list[tuple[str, list[tuple[str, str]]]]:
    """Headings of the list, each with title and path of its pages."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for head, title, path in re.findall(r"^(?:## (.*)|- \[([^]]+)\]\(([^)]+)\).*)$", LIST.read_text("utf-8"), re.M):
        if head:
            found.append((head, []))
        else:
            found[-1][1].append((title, normpath(join("docs", path))))
    return found


def contents() -> Iterable[str]:
    """The order of the pages in the sidebar; pages of tables stand behind the subjects that they are of."""
    tables = {"Subjects": [("Rules of the checker", "rules/index")], "Evidence": [("Conformance", "conformance/index")]}
    for head, rows in sections():
        named = [(title, FIRST.get(path, path).removesuffix(".md")) for title, path in rows] + tables.get(head, [])
        yield toctree(
            [f"{title} <{path}>" for title, path in named if path != "index"], head.replace("Optional", "Project")
        )


def toctree(entries: Iterable[str], caption: str = "") -> str:
    head = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n{head}\n{chr(10).join(entries)}\n```\n"


def _link(link: re.Match[str], at: str, pages: list[str], files: dict[str, bytes]) -> str:
    """A link of a page, as it is here; the file that it leads to joins the site."""
    text, target, anchor = link[1], link[2], link[3] or ""
    path = normpath(join(dirname(at), target))
    if path in FIRST:
        return f"[{text}]({relpath(FIRST[path], dirname(at) or '.')}{anchor})"
    if path in pages or not (ROOT / path).is_file():
        return link[0]
    if path.startswith("docs/") and path.endswith(".md"):
        pages.append(path)
        return link[0]
    lesson = _LESSON.fullmatch(path)
    if not lesson:
        files[path] = (ROOT / path).read_bytes()
    there = f"course/{lesson[1]}.html" if lesson else path
    return f'<a href="{relpath(there, dirname(at) or ".")}{anchor}">{text}</a>'


def rule_pages() -> dict[str, str]:
    """A page for each rule of the checker, and one over them."""
    examples = json.loads((ROOT / EXAMPLES).read_text(encoding="utf-8"))
    pages = {f"rules/{name}.md": _rule(rule, examples.get(name)) for name, rule in RULES.items()}
    rows = "".join(
        f"\n## {name.capitalize()}\n\n| rule | level | decided by | what must hold |\n| --- | --- | --- | --- |\n"
        + "".join(
            f"| [{one.name}]({one.name}.md) | {one.level} | {', '.join(decided_by(one))} | {one.demands} |\n"
            for one in RULES.values()
            if one.property == name
        )
        for name in PROPERTIES
    )
    pages["rules/index.md"] = f"# Rules of the checker\n{rows}" + toctree(RULES)
    return pages


def _rule(rule: Rule, example: Mapping[str, str] | None) -> str:
    head, _, rows = rule_text(rule).partition("\n")
    told = "".join(f"- **{row[:9].strip()}**: {row[9:].strip()}\n" for row in rows.splitlines() if row.strip())
    text = f"# {rule.name}\n\n- **must hold**: {head.partition(': ')[2]}\n{told}"
    if example:
        why = f"Wrong with the lines that have a minus ({example['why']}), right with those that have a plus:"
        text += f"\n## An example\n\n{why}\n\n```diff\n{example['change']}\n```\n\n"
        text += f"`descriptors check` says:\n\n> {example['finding']}\n"
    return text


def corpus_pages() -> tuple[dict[str, str], dict[str, bytes]]:
    """The conformance corpus, a page for each operation, and its file."""
    data = (ROOT / CORPUS).read_bytes()
    corpus = json.loads(data)
    cases: dict[str, list[tuple[int, dict[str, Any]]]] = defaultdict(list)
    for number, case in enumerate(corpus["cases"], 1):
        cases[case["operation"]].append((number, case))
    pages = {f"conformance/{name}.md": f"# {name}\n\n{_table(rows)}" for name, rows in cases.items()}
    head = f"# {corpus['name']}\n\n{corpus['cases in all']:,} cases of {len(cases)} operations, as one file: "
    head += '<a href="conformance.json">conformance.json</a>; its format, and how to run it, is told in '
    head += "[the conformance suite](../docs/conformance.md).\n\n"
    head += "| operation | cases | refused |\n| --- | --- | --- |\n" + "".join(
        f"| [{name}]({name}.md) | {len(rows)} | {sum('refused' in one for _, one in rows)} |\n"
        for name, rows in cases.items()
    )
    pages["conformance/index.md"] = head + toctree(cases)
    return pages, {"conformance/conformance.json": data}


def _table(rows: Iterable[tuple[int, dict[str, Any]]]) -> str:
    """Cases as HTML: Markdown of so many rows takes a minute."""
    heads = "".join(f"<th>{head}</th>" for head in ("case", "operands", "answer", "CuTe DSL", "CuTe C++"))
    lines = ['<div class="table-wrapper docutils container"><table class="docutils align-default">']
    lines.append(f"<thead><tr>{heads}</tr></thead><tbody>")
    for number, case in rows:
        operands = ", ".join(map(_code, case["operands"]))
        answer = _code(case["answer"]) if "answer" in case else f"{case['refused']}: {escape(case['reason'])}"
        marks = [escape(case[of]) + _other(case.get(f"{of}_answer")) for of in ("dsl", "cpp")]
        cells = "".join(f"<td>{cell}</td>" for cell in (operands, answer, *marks))
        lines.append(f'<tr id="case-{number}"><td><a href="#case-{number}">{number}</a></td>{cells}</tr>')
    return "\n".join([*lines, "</tbody></table></div>\n"])


def _code(value: object) -> str:
    return f"<code>{escape(value if isinstance(value, str) else json.dumps(value))}</code>"


def _other(answer: object) -> str:
    return "" if answer is None else f": {_code(answer)}"


def save(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths."""
    for name, data in files.items():
        path = folder / name
        os.makedirs(path.parent, exist_ok=True)
        path.write_bytes(data)
