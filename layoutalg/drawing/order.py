"""Offsets as an order: the role of each number from the lowest to the highest, and what a legend says of it.

Law: of two offsets the higher never has the earlier role; the lowest has the first.

>>> roles, legend = order({0, 8, 63})
>>> roles[0], roles[8], roles[63], legend
('r0', 'r1', 'r7', (('r0', 'lowest offset, 0'), ('r7', 'highest offset, 63')))
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from layoutalg.drawing.grid import Drawing
from layoutalg.drawing.plate import Panel, Plate, Roles, levels_of
from layoutalg.strokes.theme import step

Legend = tuple[tuple[str, str], ...]


def order(numbers: Iterable[int]) -> tuple[dict[Any, str], Legend]:
    """The roles of some offsets, and their legend.

    >>> order([7])
    ({7: 'r0'}, (('r0', 'offset 7'),))
    """
    found = set(numbers)
    if not found:
        return {}, ()
    low, high = min(found), max(found)
    roles: dict[Any, str] = {number: step(number - low, high - low + 1) for number in found}
    if low == high:
        return roles, ((roles[low], f"offset {low}"),)
    return roles, ((roles[low], f"lowest offset, {low}"), (roles[high], f"highest offset, {high}"))


def integers(tables: Iterable[Iterable[Iterable[Any]]]) -> set[int]:
    """The numbers among the cells of some tables; coordinates and symbols are none."""
    return {cell for table in tables for row in table for cell in row if type(cell) is int}


def filled(table: Iterable[Iterable[Any]], roles: dict[Any, str]) -> Roles:
    """The role of every cell; ``None`` where a cell is no number."""
    # True is equal to 1 in Python, and no offset.
    return tuple([tuple([roles.get(cell) if type(cell) is int else None for cell in row]) for row in table])


def by_offset(drawing: Drawing) -> Plate:
    """The plate of a layout's tables, coloured by offset: what a notebook shows of a large layout.

    >>> from layoutalg import Layout
    >>> from layoutalg.drawing.grid import drawing
    >>> by_offset(drawing(Layout((2, 2)))).panels[0].roles
    (('r0', 'r4'), ('r2', 'r6'))
    """
    roles, legend = order(integers(grid.cells for grid in drawing.grids))
    panels = tuple(Panel(grid, filled(grid.cells, roles), levels_of(grid.rows, grid.columns)) for grid in drawing.grids)
    caption = "A cell's colour deepens with its offset."
    return Plate("", drawing.notation, f"The offsets of {drawing.notation}. {caption}", caption, panels, legend)
