"""A layout's plate: its tables with labels, roles, borders and legend; one layout, or one before and one after.

Law: the cell of row i and column j of an ``offset`` plate holds ``layout(i, j)``; and before an operation a cell has
the role that the cell of the same offset has after it.

>>> from layoutalg import Layout
>>> plate_of(Question(Layout((2, 2), (2, 1)), "offset", "offset"), Limits()).panels[0].grid.cells
((0, 1), (2, 3))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layoutalg.drawing.arrange import MOST_NUMBERS
from layoutalg.drawing.grid import Drawable, Grid, note_of
from layoutalg.drawing.order import Legend
from layoutalg.drawing.plate import Level, Panel, Plate, Roles, extents, levels_of
from layoutalg.pictures.colours import coloured
from layoutalg.pictures.holders import holders
from layoutalg.pictures.tables import Limits, Slice, Subject, slices
from layoutalg.pictures.words import sentences, tables
from layoutalg.tuples.int_tuple import product as size

#: Roles of borders that a caller asks for, innermost first.
_ASKED = ("chunk", "atom", "subtile")


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be drawn; the names are those of :func:`layoutalg.draw`."""

    layout: Drawable
    colour: str
    label: str
    element_bytes: int | None = None
    thread_values: Any = None
    before: Drawable | None = None
    levels: tuple[tuple[int, int], ...] | None = None
    title: str = ""


def plate_of(question: Question, limits: Limits, most: int | None = None) -> Plate:
    """The plate of a question.

    Args:
        question: what is drawn, and how.
        limits: how much of it.
        most: the most cells; more is refused.

    Raises:
        LayoutError: for more cells than ``most``, and as the quantities do.
    """
    after = _slices(question, question.layout, limits, most)
    before = [] if question.before is None else _slices(question, question.before, limits, most)
    roles, legend = _roles(question, before, after)
    label = "told" if question.label == "thread" else question.label
    shown = [*before, *after]
    panels = tuple(
        Panel(_grid(table, label), filled, _levels(question, table)) for table, filled in zip(shown, roles, strict=True)
    )
    few = sum(panel.cells for panel in panels) <= MOST_NUMBERS
    first = after[0]
    notation, was = str(question.layout), "" if question.before is None else str(question.before)
    if question.thread_values is not None:
        notation += f", held by {question.thread_values}"
    words = tables(first.rows.shown, first.columns.shown, len(after), notation, was)
    held = "image" if question.label == "offset" and isinstance(panels[-1].grid.cells[0][0], tuple) else question.label
    said = sentences(held, _key(question) if legend else "none", question.element_bytes, few=few)
    note = note_of(first.rows, first.columns, len(after), _count(question.layout))
    title = question.title or ("The same cells, before and after" if before else "")
    return Plate(title, notation, f"{words} {said}", said, panels, legend, note, len(before), was, _stacked(first))


def _slices(question: Question, layout: Drawable, limits: Limits, most: int | None) -> list[Slice]:
    held = None
    if question.thread_values is not None:
        held = tuple(holders(question.thread_values, size(layout.shape)))
    return slices(layout, Subject(question.element_bytes, held), limits, most)


def _roles(question: Question, before: list[Slice], after: list[Slice]) -> tuple[list[Roles], Legend]:
    """The roles of all tables; before an operation they follow the offsets, so that a cell can be found again."""
    if question.colour in ("offset", "bank"):
        return coloured(_key(question), [table.quantity(question.colour) for table in (*before, *after)])
    values = [table.quantity(question.colour) for table in after]
    at: dict[Any, Any] = {}
    if before:
        for table, quantity in zip(after, values, strict=True):
            for offsets, row in zip(table.quantity("offset"), quantity, strict=True):
                at.update(zip(offsets, row, strict=True))
    origin = [[[at.get(offset) for offset in row] for row in table.quantity("offset")] for table in before]
    return coloured(_key(question), [*origin, *values])


def _key(question: Question) -> str:
    """What the colours are called: beyond rank 2 the position in the last modes is the slice."""
    shape = question.layout.shape
    further = type(shape) is tuple and len(shape) > 2
    return "slice" if question.colour == "mode" and further else question.colour


def _grid(table: Slice, label: str) -> Grid:
    return Grid(table.title, table.rows, table.columns, tuple(map(tuple, table.quantity(label))))


def _levels(question: Question, table: Slice) -> tuple[Level, ...]:
    if question.levels is None:
        return levels_of(table.rows, table.columns)
    return tuple(
        Level(extents(rows, columns), rows, columns, role)
        for (rows, columns), role in zip(question.levels, _ASKED, strict=False)
    )


def _stacked(table: Slice) -> int:
    """Of rank 4 the slices stand as modes 2 and 3 run: down and across."""
    return table.further()[0] if len(table.point) == 2 else 0


def _count(layout: Drawable) -> int:
    shape = layout.shape
    return size(tuple(shape[2:])) if type(shape) is tuple else 1
