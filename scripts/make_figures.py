#!/usr/bin/env python3
"""Write the figures of the documentation, docs/figures/*.svg, and the same as TikZ and text, tests/vectors/figures/.

Usage: python scripts/make_figures.py [--check]      --check only compares, and exits 1 if a file is out of date

Every face of a picture depends on its arguments alone, so that the files are compared byte for byte.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

import figures_of_descriptors  # noqa: E402
from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402

from layoutalg import Picture, draw, evaluate, fragment  # noqa: E402

SHOWN = ROOT / "docs" / "figures"
FACES = ROOT / "tests" / "vectors" / "figures"

#: The figures of layouts by the name of their files.
LAYOUTS: dict[str, Callable[[], Picture]] = {
    "nested": lambda: draw(evaluate("((4,2),(2,4)):((1,16),(4,8))"), "block"),
    "swizzled": lambda: draw(
        evaluate("S<3,3,3> o 0 o (8,64):(64,1)"),
        "bank",
        element_bytes=2,
        levels=[(8, 8)],
        title="A 128-byte swizzle spreads each column of 16-byte chunks over all banks",
    ),
    "chunks": lambda: draw(
        evaluate("recast_layout(128, 16, S<3,3,3> o 0 o (8,64):(64,1))"),
        "bank",
        element_bytes=16,
        title="The same atom, a cell for each 16-byte chunk",
    ),
    "divided": lambda: draw(
        evaluate("flat_divide((8,16):(16,1), (4,8))"),
        before=evaluate("(8,16):(16,1)"),
        title="A divide: the cells of each tile become a table",
    ),
    "threads": lambda: draw(fragment("mma.m16n8k16.C"), title="The accumulator of mma.m16n8k16: who holds what"),
    "tile": lambda: draw(evaluate("S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))")),
    "banks": lambda: draw(evaluate("S<2,3,3> o 0 o ((32,4),(8,8)):((1,2048),(32,256))"), "bank", element_bytes=2),
    "slices": lambda: draw(evaluate("(4,4,6):(4,1,16)")),
    "coordinates": lambda: draw(evaluate("make_identity_layout((3,4))")),
}

#: Every figure.
FIGURES = {**LAYOUTS, **figures_of_descriptors.FIGURES}


def files(name: str) -> dict[Path, Callable[[Picture], str]]:
    """The files of a figure, and how each is written."""
    return {
        SHOWN / f"{name}.svg": lambda picture: picture.svg() + "\n",
        FACES / f"{name}.tex": lambda picture: picture.tikz() + "\n",
        FACES / f"{name}.txt": lambda picture: picture.text(width=120) + "\n",
    }


def main(arguments: list[str]) -> int:
    """Write or compare every file; the worst status of all."""
    status = 0
    for name, figure in FIGURES.items():
        picture = figure()
        for path, write in files(name).items():
            path.parent.mkdir(parents=True, exist_ok=True)
            status = max(status, write_or_check(path, write(picture), "make_figures.py", __doc__, arguments))
    return status


if __name__ == "__main__":
    end(main, sys.argv[1:])
