#!/usr/bin/env python3
"""Try the checker on mutants of all kernels of tests/vectors/kernels.json.xz, and print what the right rule told.

Usage: python scripts/try_mutant_kernels.py [MOST [PART_OF_A_NAME]]

MOST mutants of a sort and a kernel are tried, 3 unless it is said.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "judge"), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from kernels import Mutant, kernels, mutants  # noqa: E402

from descriptors.check.inspection import check_ptx  # noqa: E402


def rules(text: str) -> Counter[str]:
    """How often each rule is told of a text."""
    return Counter(one.rule.name for one in check_ptx(text).findings)


def main(most: str = "3", part: str = "") -> int:
    draw = random.Random(1)
    caught: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    missed: dict[str, list[str]] = {}
    for name, text in sorted(kernels().items()):
        if part not in name:
            continue
        before, sorts = rules(text), dict[str, list[Mutant]]()
        for mutant in mutants(name, text):
            sorts.setdefault(mutant.sort, []).append(mutant)
        for sort, of_sort in sorts.items():
            for mutant in draw.sample(of_sort, min(int(most), len(of_sort))):
                after = rules(mutant.text)
                is_caught = any(after[rule] > before[rule] for rule in mutant.rules)
                tried[sort] += 1
                caught[sort] += is_caught
                if not is_caught:
                    missed.setdefault(sort, []).append(name)
    for sort in tried:
        print(f"{sort:42} {caught[sort]:5} of {tried[sort]:5}  {', '.join(sorted(set(missed.get(sort, []))))}")
    print(f"{caught.total()} of {tried.total()} mutants of {len(tried)} sorts were told by their rule")
    return 0


if __name__ == "__main__":
    end(main, *sys.argv[1:])
