"""Cells of one role merged into few rectangles: runs of a row, extended over the rows below that repeat them.

Law: the rectangles of all roles cover each cell that has a role exactly once, and a cell without one never.

>>> merged([["c0", "c0", "c1"], ["c0", "c0", None]])
{'c0': [(0, 0, 2, 2)], 'c1': [(2, 0, 1, 1)]}
"""

from __future__ import annotations

from collections.abc import Sequence

#: First column, first row, columns, rows.
Block = tuple[int, int, int, int]


def merged(rows: Sequence[Sequence[str | None]]) -> dict[str, list[Block]]:
    """The rectangles of each role, in the order in which they begin.

    Args:
        rows: the role of each cell, row by row; ``None`` for a cell without one. Rows may differ in length.

    >>> merged([["c0"], ["c0"], ["c1"]])
    {'c0': [(0, 0, 1, 2)], 'c1': [(0, 2, 1, 1)]}
    """
    found: dict[str, list[Block]] = {}
    above: dict[tuple[int, int, str], int] = {}
    for i, row in enumerate(rows):
        if i and row == rows[i - 1]:
            continue
        runs = _runs(row)
        _close(above, runs, i, found)
        above = {run: above.get(run, i) for run in runs}
    _close(above, {}, len(rows), found)
    return {role: sorted(blocks, key=lambda block: (block[1], block[0])) for role, blocks in sorted(found.items())}


def _runs(row: Sequence[str | None]) -> dict[tuple[int, int, str], None]:
    """The runs of equal cells of a row: their first column, the one after their last, and their role; in order."""
    runs: dict[tuple[int, int, str], None] = {}
    start, count = 0, len(row)
    while start < count:
        role, end = row[start], start + 1
        while end < count and row[end] == role:
            end += 1
        if role is not None:
            runs[start, end, role] = None
        start = end
    return runs


def _close(
    above: dict[tuple[int, int, str], int],
    runs: dict[tuple[int, int, str], None],
    row: int,
    found: dict[str, list[Block]],
) -> None:
    """Keep as rectangles the runs that end above a row, those that its own runs do not repeat."""
    for run, first in above.items():
        if run not in runs:
            start, end, role = run
            found.setdefault(role, []).append((start, first, end - start, row - first))
