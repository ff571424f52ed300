#!/usr/bin/env python3
"""How the cost of an operation grows with the rank, the depth and the size of a layout.

    .venv/bin/python scripts/bench_growth.py

Each line is one operation; each column the median time of the processor at that rank (or depth, or size), in
microseconds, and in brackets the factor over the column before it, the median over samples that are taken in turns. An
operation that costs O(r log r) has factors of little more than 2.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from turns import in_turns  # noqa: E402

import layoutalg as la  # noqa: E402
from layoutalg import Layout  # noqa: E402
from layoutalg.layouts.layout import trusted  # noqa: E402
from layoutalg.layouts.plain_composition import compose_carefully, compose_plain  # noqa: E402
from layoutalg.tuples.int_tuple import compact_strides  # noqa: E402

RANKS = (4, 8, 16, 32, 60)


def strided(rank: int, gap: int = 2) -> Layout:
    """Extents of 2 with a gap between neighbours, so that nothing coalesces; 62 bits are room for 60 modes of gap 1."""
    strides = []
    step = 1
    for i in range(rank):
        strides.append(step)
        step *= 2 * (gap if i % 2 and rank <= 32 else 1)
    return trusted((2,) * rank, tuple(reversed(strides)))


def nested(depth: int) -> Layout:
    """One leaf a level, ``depth`` levels."""
    layout = Layout((2, 2), (1, 2))
    for level in range(depth - 1):
        layout = la.make_layout(layout, Layout(2, 4 << level))
    return layout


OPERATIONS: dict[str, Callable[[Layout], Any]] = {
    "coalesce": la.coalesce,
    "flatten": la.flatten,
    "complement": lambda a: la.complement(a, la.cosize(a)),
    "right_inverse": la.right_inverse,
    "left_inverse": la.left_inverse,
    "composition with rank 2": lambda a: la.composition(a, Layout((2, 2), (2, 1))),
    "composition with itself": lambda a: la.composition(a, Layout(a.shape)),
    "logical_divide by 2": lambda a: la.logical_divide(a, 2),
    "logical_product by 2": lambda a: la.logical_product(la.select(a, range(la.rank(a) // 2)), 2),
    "evaluate": lambda a: a(la.size(a) - 1),
    "str": str,
}


def table(
    title: str, columns: tuple[int, ...], make: Callable[[int], Layout], names: list[str], repeats: int, least: float
) -> None:
    print(f"{title:26}" + "".join(f"{column:>16}" for column in columns))
    for name in names:
        samples = in_turns([partial(OPERATIONS[name], make(column)) for column in columns], repeats, least)
        cells = []
        for i in range(len(columns)):
            seconds = 1e6 * statistics.median(row[i] for row in samples)
            factor = statistics.median(row[i] / row[i - 1] for row in samples) if i else None
            cells.append(f"{seconds:8.1f} ({factor:4.1f}x)" if factor else f"{seconds:8.1f}        ")
        print(f"  {name:24}" + "".join(f"{cell:>16}" for cell in cells))
        print(f"{name} done", file=sys.stderr)


def many_modes(repeats: int, least: float) -> None:
    """Composition with a layout of as many modes: the quick way, which bisects, and the careful one, which walks."""
    print("composition of r modes with r, bisected and walked")
    for rank in (4, 16, 64, 128, 256):
        a = trusted((2,) * rank, (7, 1) * (rank // 2))  # more indices than 64 bits number, and offsets that they hold
        b = trusted(a.shape, compact_strides(a.shape))
        calls = [partial(compose, a, b) for compose in (compose_plain, compose_carefully)]
        cells = [1e6 * statistics.median(column) for column in zip(*in_turns(calls, repeats, least), strict=True)]
        print(f"  {rank:24}" + "".join(f"{cell:16.1f}" for cell in cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9, help="samples of each cell (default: 9)")
    parser.add_argument("--least", type=float, default=0.005, help="seconds of a sample at least (default: 0.005)")
    options = parser.parse_args()
    how, names = (options.repeats, options.least), list(OPERATIONS)
    many_modes(*how)
    table("by rank", RANKS, strided, names, *how)
    table("by depth", (2, 4, 8, 16, 32), nested, [n for n in names if "product" not in n], *how)
    table(
        "by size, 2**n elements",
        (10, 20, 30, 40),
        lambda n: Layout((1 << n // 2, 1 << n // 2), (1 << n // 2, 1)),
        [name for name in names if "itself" not in name],
        *how,
    )


if __name__ == "__main__":
    end(main)
