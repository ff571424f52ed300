"""How often the CuTe DSL may be wrong, refuse or crash where the package answers rightly, by operation.

A share is tolerated, not an answer: the oracle is asked through an adapter, and an adapter that breaks looks like an
oracle that is always wrong. An operation (or kind of argument) that is not in the table tolerates nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt

from dsl import SIMPLER, SLICES, STAYS_SWIZZLED

from layoutalg.oracle.expressions import Case

TOLERATED = ("dsl wrong", "dsl refuses", "dsl crashes")

#: Slices that are right but not written as the DSL writes them, in a whole run.
MOST_REWRITTEN = 4

#: Cases after which an operation that never agreed is suspect.
OFTEN = 24

#: Measured with the CuTe DSL 4.8.1 over 47 seeds of 2,400 cases; 0.01 where it was less.
SHARES: dict[str, dict[str, float]] = {
    "blocked_product": {"plain": 0.26, "swizzled": 0.26},
    "complement": {"plain": 0.26},
    "composition": {"basis strides": 0.06, "plain": 0.06, "swizzled": 0.06},
    "cosize": {"swizzled": 0.6},
    "downcast": {"plain": 0.04, "swizzled": 0.04},
    "flat_divide": {"plain": 0.11, "swizzled": 0.11},
    "flat_product": {"plain": 0.06, "swizzled": 0.05},
    "flatten": {"swizzled": 0.14},
    "left_inverse": {"plain": 0.18},
    "local_partition": {"plain": 0.01, "swizzled": 0.45},
    "local_tile": {"plain": 0.01, "swizzled": 0.41},
    "logical_divide": {"plain": 0.1, "swizzled": 0.09},
    "logical_product": {"plain": 0.04, "swizzled": 0.31},
    "make_layout_like": {"plain": 0.01},
    "make_ordered_layout": {"shapes": 0.15},
    "nullspace": {"plain": 0.13},
    "raked_product": {"plain": 0.15, "swizzled": 0.14},
    "recast_layout": {"plain": 0.41, "swizzled": 0.09},
    "slice_": {"swizzled": 0.31},
    "slice_and_offset": {"swizzled": 0.68},
    "tile_to_shape": {"plain": 0.13, "swizzled": 0.12},
    "tiled_divide": {"plain": 0.12, "swizzled": 0.11},
    "tiled_product": {"plain": 0.06, "swizzled": 0.05},
    "upcast": {"plain": 0.33, "swizzled": 0.1},
    "with_shape": {"plain": 0.06, "swizzled": 0.06},
    "zipped_divide": {"plain": 0.11, "swizzled": 0.11},
    "zipped_product": {"plain": 0.05, "swizzled": 0.04},
}

Counts = Mapping[tuple[str, str], Counter[str]]


def kind_of(case: Case) -> str:
    """What the arguments of a case are made of."""
    text = " ".join(map(str, case.arguments))
    if "@" in text:
        return "basis strides"
    return "swizzled" if "S<" in text else "plain" if ":" in text else "shapes"


def excess(counts: Counts) -> list[str]:
    """Where the oracle was wrong too often, or never agreed although it was asked often."""
    found = []
    for (operation, kind), counter in sorted(counts.items()):
        number, tolerated = sum(counter.values()), sum(counter[name] for name in TOLERATED)
        if tolerated > most(operation, kind, number):
            found.append(f"{operation}, {kind}: {tolerated} of {number}, at most {most(operation, kind, number)}")
        if number >= OFTEN and not counter["agree"]:
            found.append(f"{operation}, {kind}: no agreement in {number} cases")
    rewritten = sum(c[name] for (op, _), c in counts.items() if op in SLICES for name in (SIMPLER, STAYS_SWIZZLED))
    if rewritten > MOST_REWRITTEN:
        found.append(f"slices in another form than the DSL's: {rewritten}, at most {MOST_REWRITTEN}")
    return found


def most(operation: str, kind: str, number: int) -> int:
    """The most cases of ``number`` that may be tolerated: the share of the table, and a margin of 4.5 deviations."""
    share = SHARES.get(operation, {}).get(kind, 0.0)
    return int(share * number + 4.5 * sqrt(share * (1 - share) * number)) + 2 if share else 0


def summary(counts: Counts) -> str:
    """One line of counts an operation, and one for all."""
    total: dict[str, Counter[str]] = {}
    for (operation, _), counter in counts.items():
        total.setdefault(operation, Counter()).update(counter)
    total["all"] = sum(total.values(), Counter())
    lines = [f"  {name:22} {sum(c.values()):5}  {_text(c)}" for name, c in sorted(total.items(), key=_all_last)]
    return "\n".join(lines)


def _all_last(item: tuple[str, Counter[str]]) -> tuple[bool, str]:
    return item[0] == "all", item[0]


def _text(counter: Counter[str]) -> str:
    return ", ".join(f"{kind} {number}" for kind, number in sorted(counter.items()))
