"""What an agent reads first: short, complete, and of the commands that there are."""

from __future__ import annotations

import re

from places import ROOT

DOCS = ROOT / "docs"


def test_the_skill_is_short_and_says_when() -> None:
    lines = (DOCS / "skill" / "SKILL.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 200 and lines[0] == "---" and lines[1] == "name: layoutalg"
    assert {"## When", "## When not", "## Rules"} <= set(lines)


def test_the_list_of_pages_names_each_page_once() -> None:
    text = (DOCS / "llms.txt").read_text(encoding="utf-8")
    named = re.findall(r"^- \[[^]]+\]\(([^)]+)\): \S", text, re.MULTILINE)
    above = {f"../{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG", "proofs/README")}
    pages = {one.name for one in DOCS.glob("*.md")} | above | {"skill/SKILL.md"}
    assert sorted(named) == sorted(pages)
    assert text.startswith("# layoutalg\n\n> ")
