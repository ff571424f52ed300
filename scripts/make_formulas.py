#!/usr/bin/env python3
"""Write docs/formulas.md, the table of `descriptors formulas`.

Usage: python scripts/make_formulas.py [--check]      --check only compares, and exits 1 if the page is out of date
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402

from descriptors.smem.derivation.closed_forms import write_formulas  # noqa: E402
from descriptors.smem.derivation.symbolic import derive_symbolic  # noqa: E402
from descriptors.smem.operands.operand import Major  # noqa: E402
from descriptors.sweep.formulas import (  # noqa: E402
    LEGEND,
    formulas,
    write_table,
)

PAGE = ROOT / "docs" / "formulas.md"
INTRODUCTION = """\
<!-- Written by scripts/make_formulas.py. Do not edit. -->

# Descriptor formulas

The leading byte offset (LBO), the stride byte offset (SBO) and the steps of the start address, as functions of the
tile from which `wgmma` and `tcgen05` read operands. A row is a major, a swizzle, an order of the atoms and a width of
the elements; for operands of other extents ask `descriptors derive --symbolic`. The tile is made of canonical atoms
(`tile_to_shape`) and starts at an aligned address. Every formula comes out of the layout algebra with symbols in the
extents. Each row is proved for all sizes of the tile and every aligned address at once (`descriptors formulas --prove`;
the theorem stands in `descriptors/smem/proof/theorem.py`), and checked against derivations with numbers for many tiles
(`tests/descriptors/sweep/test_formulas.py`).

`descriptors formulas` prints this table, also as LaTeX and JSON.

"""
ONE = """\
## One family of tiles

`descriptors derive --symbolic` takes a tile with symbols of its own and shows the steps too; as a Python module with
`--format python`, as LaTeX with `--format latex`:

```console
$ descriptors derive --dtype bf16 --major K --swizzle 128B --tile "64*m x 64*k" --mma 64x16 --order 1,0 --symbolic
"""


def page() -> str:
    """The whole page."""
    rows = formulas()
    lines = [INTRODUCTION + "\n".join(f"- {line}" for line in LEGEND)]
    for major in Major:
        table = write_table(tuple(row for row in rows if row.derivation.major is major), "markdown")
        lines += ["", f"## {major}-major", "", table]
    one = derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16), (1, 0))
    return "\n".join([*lines, "", ONE + write_formulas(one), "```"]) + "\n"


def main(arguments: list[str]) -> int:
    return write_or_check(PAGE, page(), "make_formulas.py", __doc__, arguments)


if __name__ == "__main__":
    end(main, sys.argv[1:])
