#!/usr/bin/env python3
"""Writes tests/vectors/rule_examples.json: of each rule of the checker a kernel of ours with one thing wrong.

    .venv/bin/python scripts/make_rule_examples.py [--check]

Kernels and changes are those of tests/judge/kernels.py; a rule for which none of the first few mutants is told has no
example. It takes a minute or two.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice
from multiprocessing import Pool
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "judge"), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402
from kernel_kinds import KINDS  # noqa: E402
from kernels import mutants, tried  # noqa: E402

from descriptors import check_ptx, tell  # noqa: E402
from descriptors.check.rules import RULES  # noqa: E402

RECORD = ROOT / "tests" / "vectors" / "rule_examples.json"
#: Kernels that are written here, or emitted; those of compilers are long.
OURS = ("docs", "ring", "emitted")
#: How many mutants are tried for a rule, and how many lines of a change are shown.
MOST, LINES = 6, 24


def example(rule: str) -> dict[str, str] | None:
    """The change back of the first mutant of which the checker tells this rule, why it is wrong, and what is told."""
    for right, wrong, why in islice(candidates(rule), MOST):
        told = [line for line in tell(check_ptx(wrong), name="kernel.ptx").splitlines() if f"[{rule}]:" in line]
        if told:
            return {"why": why, "change": change(wrong, right), "finding": told[0]}
    return None


def candidates(rule: str) -> Iterator[tuple[str, str, str]]:
    """Right and wrong kernels, those first whose kind names the rule first, and the shortest of them."""
    kernels = sorted((one for one in tried().items() if one[0].startswith(OURS)), key=lambda one: len(one[1]))
    kinds = [(group, kind) for group, row in KINDS.items() for kind in row if rule in kind.rules]
    for group, kind in sorted(kinds, key=lambda one: one[1].rules[0] != rule):
        for name, text in kernels:
            for mutant in mutants(name, text, group, kind, 1):
                if change(mutant.text, text).count("\n") < LINES:
                    yield text, mutant.text, kind.why


def change(before: str, after: str) -> str:
    """What has to be changed, with two lines around it; without heads, and without most of many registers."""
    rows = islice(unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=2), 2, None)
    told = "\n".join(row for row in rows if not row.startswith("@@"))
    return re.sub(r"\{(\w+), (?:\w+, ){3,}(\w+)\}", r"{\1, ..., \2}", told)


def main(arguments: list[str]) -> int:
    with Pool() as pool:
        found = {name: one for name, one in zip(RULES, pool.map(example, RULES, 1), strict=True) if one}
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    return write_or_check(RECORD, text, "make_rule_examples.py", __doc__, arguments)


if __name__ == "__main__":
    end(main, sys.argv[1:])
