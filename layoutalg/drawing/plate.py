"""Plates: the contents of a picture as data without pixels: cells, the meaning of colors, borders and marks.

A plate consists of panels, which are tables side by side. A cell has a text and a role, which is its fill. An order of
roles can represent numbers, from the lowest to the highest; the legend explains it.

Invariants: the record of a plate is plain data, and equal plates have equal records; the role of a higher offset is
never earlier than that of a lower one, and the lowest offset has the first role.

>>> from layoutalg import Layout
>>> from layoutalg.drawing.grid import drawing
>>> grid = drawing(Layout((2, 3))).grids[0]
>>> panel = Panel(grid, (("r0", "r2", "r5"), ("r1", "r4", "r7")))
>>> plate = Plate("", "(2,3):(1,2)", "Six cells.", "A cell holds its offset.", (panel,))
>>> plate.record()["panels"][0]["cells"]
[[0, 2, 4], [1, 3, 5]]
>>> roles, legend = order({0, 8, 63})
>>> roles[0], roles[8], roles[63], legend
('r0', 'r1', 'r7', (('r0', 'lowest offset, 0'), ('r7', 'highest offset, 63')))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from layoutalg.drawing.grid import Axis, Drawing, Grid
from layoutalg.drawing.theme import step
from layoutalg.frozen import frozen
from layoutalg.tuples.int_tuple import product as size
from layoutalg.tuples.int_tuple import text

#: Roles of the cells of a table, row by row; ``None`` leaves a cell empty.
Roles = tuple[tuple[str | None, ...], ...]


@frozen
class Level:
    """Borders of nested blocks: lines at regular intervals of rows and columns.

    Args:
        name: the name for the legend.
        rows: rows of a block; 0 draws no horizontal lines.
        columns: columns of a block; 0 draws no vertical lines.
        role: the role of the lines: ``tile``, ``atom``, ``subtile`` or ``chunk``.
    """

    name: str
    rows: int
    columns: int
    role: str


@frozen
class Mark:
    """A framed part of a table: its first row and column, its extents, the frame's role."""

    row: int
    column: int
    rows: int
    columns: int
    role: str = "subtile"


@frozen
class Panel:
    """A table of a plate.

    Args:
        grid: title, axes, and the contents of each cell; ``None`` for an empty cell.
        roles: the fill of each cell.
        levels: borders, innermost first.
        marks: framed parts.
    """

    grid: Grid
    roles: Roles
    levels: tuple[Level, ...] = ()
    marks: tuple[Mark, ...] = ()

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.grid.rows.shown * self.grid.columns.shown

    def record(self) -> dict[str, Any]:
        """Return the panel as plain data."""
        return {
            "title": self.grid.title,
            "rows": _axis(self.grid.rows),
            "columns": _axis(self.grid.columns),
            "cells": [[_plain(cell) for cell in row] for row in self.grid.cells],
            "roles": [list(row) for row in self.roles],
            "levels": [
                {"name": level.name, "rows": level.rows, "columns": level.columns, "role": level.role}
                for level in self.levels
            ],
            "marks": [
                {"row": m.row, "column": m.column, "rows": m.rows, "columns": m.columns, "role": m.role}
                for m in self.marks
            ],
        }


@frozen
class Plate:
    """Tables side by side, with title, caption and legend.

    Args:
        title: a few words; may be empty.
        notation: the layout, or another subject of the tables.
        description: sentences for readers who do not see the tables.
        caption: the meaning of the contents and the color of a cell.
        panels: the tables.
        legend: roles of cells and their meaning.
        note: what was left out; may be empty.
        before: number of panels, the first ones, that show the layout before an operation; an arrow leads from them to
            the others.
        was: the notation of the layout before the operation; empty if there is none.
        stacked: number of other panels that are stacked in a column; 0 arranges them in lines.
    """

    title: str
    notation: str
    description: str
    caption: str
    panels: tuple[Panel, ...]
    legend: tuple[tuple[str, str], ...] = ()
    note: str = ""
    before: int = 0
    was: str = ""
    stacked: int = 0

    def record(self) -> dict[str, Any]:
        """Return the plate as plain data for JSON."""
        return {
            "title": self.title,
            "notation": self.notation,
            "description": self.description,
            "caption": self.caption,
            "panels": [panel.record() for panel in self.panels],
            "legend": [{"role": role, "text": text} for role, text in self.legend],
            "note": self.note,
            "before": self.before,
            "was": self.was,
            "stacked": self.stacked,
        }


#: The roles of the borders of nested levels, innermost first. The frame of a table has the role ``tile``.
_ROLES = ("chunk", "atom", "subtile")


def levels_of(rows: Axis, columns: Axis) -> tuple[Level, ...]:
    """Return the borders of two nested axes: a block for each depth at which at least one axis is divided.

    >>> [(level.rows, level.columns) for level in levels_of(Axis.of((4, 2), 0, None), Axis.of((2, 4, 2), 1, None))]
    [(4, 2), (0, 8)]
    """
    return tuple(_levels(_blocks(rows), _blocks(columns)))


def _levels(rows: list[int], columns: list[int]) -> Iterator[Level]:
    for depth in range(min(max(len(rows), len(columns)), len(_ROLES))):
        down = rows[depth] if depth < len(rows) else 0
        across = columns[depth] if depth < len(columns) else 0
        yield Level(extents(down, across), down, across, _ROLES[depth])


def extents(rows: int, columns: int) -> str:
    """Return the extents of a block as text; 0 is the extent of the whole table.

    >>> extents(8, 64), extents(4, 0)
    ('8 \u00d7 64', '4 rows')
    """
    if rows and columns:
        return f"{rows} \u00d7 {columns}"
    return f"{rows} rows" if rows else f"{columns} columns"


def _blocks(axis: Axis) -> list[int]:
    """Return the lengths of the nested blocks that divide an axis, innermost first."""
    lengths = [size(axis.extents[: leaf + 1]) for leaf in range(len(axis.extents))]
    return sorted({length for length in lengths if 1 < length < axis.size})


def label(cell: object) -> str:
    """Return the text of a cell; an empty text for ``None``."""
    return "" if cell is None else text(cell)


def _axis(axis: Axis) -> dict[str, Any]:
    return {"names": list(axis.names), "extents": list(axis.extents), "shown": axis.shown}


def _plain(cell: Any) -> Any:
    if isinstance(cell, tuple):
        return [_plain(item) for item in cell]
    return cell if cell is None or isinstance(cell, (int, str)) else str(cell)


Legend = tuple[tuple[str, str], ...]


def order(numbers: Iterable[int]) -> tuple[dict[Any, str], Legend]:
    """Return the roles of offsets, and their legend.

    >>> order([7])
    ({7: 'r0'}, (('r0', 'offset 7'),))
    """
    offsets = set(numbers)
    if not offsets:
        return {}, ()
    low, high = min(offsets), max(offsets)
    roles: dict[Any, str] = {number: step(number - low, high - low + 1) for number in offsets}
    if low == high:
        return roles, ((roles[low], f"offset {low}"),)
    return roles, ((roles[low], f"lowest offset, {low}"), (roles[high], f"highest offset, {high}"))


def integers(tables: Iterable[Iterable[Iterable[Any]]]) -> set[int]:
    """Return the integers in the cells of tables, without coordinates and symbols."""
    return {cell for table in tables for row in table for cell in row if type(cell) is int}


def role_table(table: Iterable[Iterable[Any]], roles: dict[Any, str]) -> Roles:
    """Return the role of every cell; ``None`` for a cell that is not an integer."""
    # In Python, True is equal to 1, but it is not an offset.
    return tuple([tuple([roles.get(cell) if type(cell) is int else None for cell in row]) for row in table])


def by_offset(drawing: Drawing) -> Plate:
    """Return the plate of the tables of a layout, colored by offset; a notebook shows it for a large layout.

    >>> from layoutalg import Layout
    >>> from layoutalg.drawing.grid import drawing
    >>> by_offset(drawing(Layout((2, 2)))).panels[0].roles
    (('r0', 'r4'), ('r2', 'r6'))
    """
    roles, legend = order(integers(grid.cells for grid in drawing.grids))
    panels = tuple(
        Panel(grid, role_table(grid.cells, roles), levels_of(grid.rows, grid.columns)) for grid in drawing.grids
    )
    caption = "A cell's colour deepens with its offset."
    return Plate("", drawing.notation, f"The offsets of {drawing.notation}. {caption}", caption, panels, legend)
