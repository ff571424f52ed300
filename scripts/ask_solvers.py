#!/usr/bin/env python3
"""Put the strict lattice to z3 and cvc5, family by family: every operand that an instruction reads, any size of tile.

A family is a kind of operand (``scripts/lib/strict.py``), an order in which atoms are stacked, and tiles of a*m x b*k
with s stages. Families that claim the same in the same words are asked once. ``--every 10`` takes every tenth kind.
Needs z3-solver and cvc5, or one of them. Exit status 1 where an answer is another than expected.

Usage: python scripts/ask_solvers.py [--every N] [--solver z3|cvc5] [--seconds S]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from math import ceil, lcm
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from strict import Kind, kinds  # noqa: E402

from descriptors import DescriptorError, SymbolicDerivation, claim, derive_symbolic, plain  # noqa: E402
from descriptors.smem.claims.question import Question, every  # noqa: E402
from descriptors.smem.claims.solver import ask, installed  # noqa: E402
from descriptors.smem.derivation.basis import verdict_for_all  # noqa: E402
from descriptors.smem.operands.atoms import atom_in_elements  # noqa: E402
from descriptors.smem.operands.operand import as_element_type  # noqa: E402
from layoutalg import LayoutError, size  # noqa: E402


def families(some: Iterator[Kind]) -> Iterator[SymbolicDerivation]:
    """The closed forms of every kind, in both orders, with stages; those that have none are left out."""
    for kind in some:
        atom = plain(atom_in_elements(kind.major, kind.swizzle, as_element_type(kind.dtype)))
        a, b = (lcm(size(mode), part) for mode, part in zip(atom, kind.mma, strict=True))
        for order in ((0, 1, 2), (1, 0, 2)):
            tile = (f"{a}*m", f"{b}*k", "s")
            try:
                yield derive_symbolic(
                    tile, kind.dtype, kind.major, kind.swizzle, kind.mma, order, kind.arch, legality="off"
                )
            except (DescriptorError, LayoutError):
                continue


def main() -> int:
    """Ask, and say in a line for each question how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="every so many kinds of operand")
    parser.add_argument("--solver", choices=("z3", "cvc5"), help="only this one; all that are installed if left out")
    parser.add_argument("--seconds", type=int, default=60, help="for a question")
    options = parser.parse_args()
    asked, many, unproved = dict[tuple[str, ...], list[Question]](), 0, 0
    for one in families(islice(kinds(), 0, None, options.every)):
        questions = every(claim(one).questions)
        asked.setdefault(tuple(question.script for question in questions), questions)
        many, unproved = many + 1, unproved + (not verdict_for_all(one))
    print(f"{many} families, {len(asked)} of them different; the theorem leaves {unproved} unproved")
    wrong = 0
    for solver in [options.solver] if options.solver else installed():
        seconds = defaultdict[str, list[float]](list)
        for questions in asked.values():
            for question in questions:
                begun = time.perf_counter()
                outcome = ask(question, solver, seconds=options.seconds).outcome
                seconds[question.name].append(time.perf_counter() - begun)
                if outcome != question.expected:
                    wrong += 1
                    print(f"{solver} {question.name}: {outcome}, expected {question.expected}\n{question.script}")
        for name, took in seconds.items():
            ranked = sorted(took)
            middle, most = ranked[len(took) // 2], ranked[ceil(0.95 * len(took)) - 1]
            print(f"{solver:5} {name:24} {len(took)} as expected; seconds: median {middle:.3f}, 95 % {most:.3f}, "
                  f"most {ranked[-1]:.3f}, in all {sum(took):.1f}")  # fmt: skip
    return 1 if wrong else 0


if __name__ == "__main__":
    end(main)
