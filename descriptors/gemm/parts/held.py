r"""Which element a value of a thread is, as an expression of C: row and column of a fragment.

Law: the expressions, read as C does, are the layout of the fragment at every thread and value.

>>> from layoutalg import fragment
>>> held = fragment("wgmma.m64n8k16.D").layout
>>> row, column = (one.replace("/", "//") for one in row_and_column(held, 64))
>>> def found(thread, value):
...     return eval(row) + 64 * eval(column)
>>> all(found(t, v) == held(t, v) for t in range(128) for v in range(4))
True
"""

from __future__ import annotations

from layoutalg import Layout, flatten


def row_and_column(held: Layout, rows: int) -> tuple[str, str]:
    """Two expressions in ``thread`` and ``value``.

    Args:
        held: (thread, value) to row + rows * column, each of its strides within a column or of whole columns.
        rows: how many rows the fragment has.

    >>> from layoutalg import fragment
    >>> row_and_column(fragment("wgmma.m64n8k16.D").layout, 64)
    ('thread / 4 % 8 + thread / 32 % 4 * 16 + value / 2 % 2 * 8', 'thread % 4 * 2 + value % 2')
    """
    terms: dict[str, list[str]] = {"row": [], "column": []}
    for index, what in enumerate(("thread", "value")):
        before, mode = 1, flatten(held[index])
        for extent, step in zip(_listed(mode.shape), _listed(mode.stride), strict=True):
            at = f"{what} / {before} % {extent}" if before > 1 else f"{what} % {extent}"
            kind, times = ("row", step) if step < rows else ("column", step // rows)
            terms[kind].append(at if times == 1 else f"{at} * {times}")
            before *= extent
    return " + ".join(terms["row"]) or "0", " + ".join(terms["column"]) or "0"


def _listed(value: object) -> tuple[int, ...]:
    """The shape or stride of a flat layout, which is a number where there is one mode."""
    return value if isinstance(value, tuple) else (value,)
