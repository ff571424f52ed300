"""The table of rules says which part of a check decides each of them: the modules that name it."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from places import ROOT

from descriptors.check.rules import EXECUTION, PATHS, RULES, TEXT, decided_by

CHECK = ROOT / "descriptors" / "check"
#: The modules of the path analysis; the table itself, and what chooses among findings, decide nothing.
OF_PATHS, NONE = ("wgmma", "tcgen05", "tensor_memory", "threads", "paths"), ("rules", "inspection")


def part_of(module: Path) -> str:
    if module.parent.name == "execution":
        return EXECUTION
    return PATHS if module.stem in OF_PATHS else TEXT


def named() -> dict[str, set[str]]:
    """The parts whose modules name each rule, docstrings apart."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in CHECK.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in RULES and module.stem not in NONE:
                found[node.value].add(part_of(module))
    return found


def test_each_rule_is_decided_by_the_parts_that_name_it() -> None:
    parts = named()
    for name, rule in RULES.items():
        # What a line of events breaks, for descriptors tmem check, a text may not say.
        events = {PATHS} if rule.guardrail and PATHS not in decided_by(rule) else set()
        found = parts[name] - events or {TEXT} & set(decided_by(rule))
        assert found == set(decided_by(rule)), name
