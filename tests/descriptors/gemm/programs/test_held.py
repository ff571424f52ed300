"""Row and column of a thread's value, as C computes them, beside the layout of every fragment of wgmma."""

from __future__ import annotations

from each import each

from descriptors.gemm.programs.c_expressions import row_and_column
from layoutalg import fragment, size

NAMES = [f"wgmma.m64n{n}k{k}.{one}" for n, k in ((8, 8), (8, 16), (8, 32), (24, 16), (256, 16)) for one in "AD"]


@each("name", NAMES)
def test_the_expressions_are_the_fragment_at_every_thread_and_value(name: str) -> None:
    layout = fragment(name).layout
    row, column = (compile(one.replace("/", "//"), name, "eval") for one in row_and_column(layout, 64))
    for thread in range(size(layout[0])):
        for value in range(size(layout[1])):
            known = {"thread": thread, "value": value}
            assert eval(row, known) + 64 * eval(column, known) == layout(thread, value)  # noqa: S307
