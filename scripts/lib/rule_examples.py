"""For each rule a kernel of ours with one thing wrong, as the tests make them, and what the checker says of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "tests" / "judge")]

from kernel_kinds import KINDS
from kernels import mutants, tried

from descriptors import check_ptx, tell
from descriptors.check.rules import RULES

#: Kernels that are written here, or emitted; those of compilers are long.
OURS = ("docs", "ring", "emitted")
#: How many mutants are tried for a rule, and how many lines of a change are shown.
MOST, LINES = 6, 24


@dataclass(frozen=True)
class Example:
    """A mutant of a right kernel: the change back, why it is wrong, and what is said of it."""

    diff: str
    why: str
    told: str


def examples() -> Mapping[str, Example]:
    """An example of each rule that a kind of mutant is for, where one is near."""
    with get_context("fork").Pool() as pool:
        return {name: one for name, one in zip(RULES, pool.map(example, RULES, 1), strict=True) if one}


def example(rule: str) -> Example | None:
    """The first mutant of which the checker tells this rule."""
    for right, wrong, why in islice(_candidates(rule), MOST):
        lines = [line for line in tell(check_ptx(wrong), name="kernel.ptx").splitlines() if line.endswith(f"[{rule}]")]
        if lines:
            return Example(_change(wrong, right), why, lines[0])
    return None


def _candidates(rule: str) -> Iterator[tuple[str, str, str]]:
    """Right and wrong kernels, those first whose kind names the rule first, and the shortest of them."""
    kernels = sorted(((name, text) for name, text in tried().items() if name.startswith(OURS)), key=lambda one: len(one[1]))
    for first in (True, False):
        for group, kinds in KINDS.items():
            for kind in kinds:
                if rule in kind.rules and (kind.rules[0] == rule) == first:
                    for name, text in kernels:
                        for mutant in mutants(name, text, group, kind, 1):
                            if _change(mutant.text, text).count("\n") < LINES:
                                yield text, mutant.text, kind.why


def _change(before: str, after: str) -> str:
    """What has to be changed, with two lines around it; without the head of a difference."""
    rows = unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=2)
    return "\n".join(row for row in islice(rows, 2, None) if not row.startswith("@@"))
