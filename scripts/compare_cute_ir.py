#!/usr/bin/env python3
"""Compare the algebra with the recorded tests of CuTe IR, and print the cases by verdict.

Usage: python scripts/compare_cute_ir.py [FILE] [--all]      FILE has cases as tests/vectors/cute_ir.json does, or one
JSON object per line; --all also lists the cases that agree
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from cute_ir import ANSWERED, RECORDED, REJECTED, group, read_cases, table  # noqa: E402
from ended import end  # noqa: E402


def main(arguments: list[str]) -> None:
    paths = [Path(argument) for argument in arguments if argument != "--all"]
    counts, compared = table(read_cases(paths[0] if paths else RECORDED))
    for kind in ("static", "dynamic", "rejected"):
        total = sum(number for (of, _), number in counts.items() if of == kind)
        verdicts = REJECTED if kind == "rejected" else ANSWERED
        print(f"{kind:9} {total:4}: " + ", ".join(f"{counts[kind, verdict]} {verdict}" for verdict in verdicts))
    for case, (verdict, answer) in compared:
        if "--all" in arguments or verdict in ("different", "refused", "undecided", "accepted"):
            operands = ", ".join(text for _, text in case["operands"])
            print(f"{group(case)}, {verdict}: {case['operation']}({operands}) -> {case['result'][1]}; here {answer}")


if __name__ == "__main__":
    end(main, sys.argv[1:])
