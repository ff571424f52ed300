"""Plates of layouts: tables with labels, roles, borders and a legend, for one layout or for two, before and after.

Roles represent quantities as colors. Offsets use an order of eight steps, from the lowest to the highest offset of the
picture. All other quantities use eight kinds: banks by groups of four, others by their number modulo 8. Sentences below
the title explain what a cell is, what its text is, and what its color means.

Invariant: the cell in row i and column j of an ``offset`` plate contains ``layout(i, j)``. A cell before an operation
has the role of the cell with the same offset after it.

>>> from layoutalg import Layout
>>> plate_of(Question(Layout((2, 2), (2, 1)), "offset", "offset"), Limits()).panels[0].grid.cells
((0, 1), (2, 3))
>>> role_tables("thread", [[[0, 1, 9, None]]])
([(('c0', 'c1', 'c1', None),)], (('c0', 'T0'), ('c1', 'T1, T9')))
>>> sentences("offset", "bank", 2, "cell")
'A cell holds its offset; its colour is the group of four banks in which it lies, at 2 bytes an element.'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layoutalg.analysis.banks import BANK_BYTES, GROUP_BYTES, bank_group
from layoutalg.drawing.arrange import numbered_unit
from layoutalg.drawing.grid import Drawable, Grid, note_of
from layoutalg.drawing.plate import (
    Legend,
    Level,
    Panel,
    Plate,
    Roles,
    extents,
    integers,
    levels_of,
    order,
    role_table,
)
from layoutalg.drawing.theme import KINDS, kind
from layoutalg.frozen import frozen
from layoutalg.pictures.quantities import Limits, Slice, Subject, holders, slices
from layoutalg.tuples.int_tuple import product as size

#: Roles of the borders that a caller requests, innermost first.
_BLOCK_ROLES = ("chunk", "atom", "subtile")


@frozen
class Question:
    """The arguments of :func:`layoutalg.draw`, checked."""

    layout: Drawable
    colour: str
    label: str
    element_bytes: int | None = None
    thread_values: Any = None
    before: Drawable | None = None
    levels: tuple[tuple[int, int], ...] | None = None
    title: str = ""


def plate_of(question: Question, limits: Limits, most: int | None = None) -> Plate:
    """Return the plate for the arguments of a drawing.

    Args:
        question: the layout and how to draw it.
        limits: the limits of rows, columns and tables.
        most: the most cells; see :func:`slices`.

    Raises:
        LayoutError: if there are more cells, or a quantity cannot be computed.
    """
    after = _slices(question, question.layout, limits, most)
    before = [] if question.before is None else _slices(question, question.before, limits, most)
    roles, legend = _roles(question, before, after)
    label = "holders_text" if question.label == "thread" else question.label
    panels = tuple(
        Panel(_grid(table, label), table_roles, _levels(question, table))
        for table, table_roles in zip([*before, *after], roles, strict=True)
    )
    first = after[0]
    notation, was = str(question.layout), "" if question.before is None else str(question.before)
    if question.thread_values is not None:
        notation += f", held by {question.thread_values}"
    words = tables(first.rows.shown, first.columns.shown, len(after), notation, was)
    content = (
        "image" if question.label == "offset" and isinstance(panels[-1].grid.cells[0][0], tuple) else question.label
    )
    key_sentence = sentences(
        content, _key(question) if legend else "none", question.element_bytes, numbered_unit(panels)
    )
    note = note_of(first.rows, first.columns, len(after), _count(question.layout))
    title = question.title or ("The same cells, before and after" if before else "")
    return Plate(
        title,
        notation,
        f"{words} {key_sentence}",
        key_sentence,
        panels,
        legend,
        note,
        len(before),
        was,
        _stacked(first),
    )


def _slices(question: Question, layout: Drawable, limits: Limits, most: int | None) -> list[Slice]:
    tile_holders = None
    if question.thread_values is not None:
        tile_holders = tuple(holders(question.thread_values, size(layout.shape)))
    return slices(layout, Subject(question.element_bytes, tile_holders), limits, most)


def _roles(question: Question, before: list[Slice], after: list[Slice]) -> tuple[list[Roles], Legend]:
    """Return the roles of all tables; a table before an operation has the roles of the same offsets after it."""
    if question.colour in ("offset", "bank"):
        return role_tables(_key(question), [table.quantity(question.colour) for table in (*before, *after)])
    values = [table.quantity(question.colour) for table in after]
    by_offset: dict[Any, Any] = {}
    if before:
        for table, quantity in zip(after, values, strict=True):
            for offsets, row in zip(table.quantity("offset"), quantity, strict=True):
                by_offset.update(zip(offsets, row, strict=True))
    earlier = [[[by_offset.get(offset) for offset in row] for row in table.quantity("offset")] for table in before]
    return role_tables(_key(question), [*earlier, *values])


def _key(question: Question) -> str:
    """Return the name of the color property; ``mode`` is called ``slice`` for rank 3 and more."""
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
        for (rows, columns), role in zip(question.levels, _BLOCK_ROLES, strict=False)
    )


def _stacked(table: Slice) -> int:
    """Return how many slices of a rank-4 layout are stacked: those of mode 2, so that mode 3 runs across; else 0."""
    return table.further()[0] if len(table.point) == 2 else 0


def _count(layout: Drawable) -> int:
    shape = layout.shape
    return size(tuple(shape[2:])) if type(shape) is tuple else 1


#: The prefixes of numbers in the legend.
_PREFIX = {"thread": "T", "value": "V", "block": "block ", "mode": "position ", "slice": "slice "}
#: The most numbers of one kind in the legend.
_NAMED = 3


def role_tables(colour: str, tables: list[list[list[Any]]]) -> tuple[list[Roles], Legend]:
    """Return the roles of every cell of some tables, and the legend.

    Args:
        colour: the name of the quantity.
        tables: the value of the quantity in every cell.
    """
    numbers = integers(tables)
    if colour == "offset":
        roles, legend = order(numbers)
    elif colour == "bank":
        roles, legend = _groups(numbers)
    else:
        roles, legend = _kinds(numbers, _PREFIX.get(colour, ""))
    return [role_table(table, roles) for table in tables], legend


def _groups(numbers: set[int]) -> tuple[dict[Any, str], Legend]:
    group_of, each = {bank: bank_group(BANK_BYTES * bank) for bank in numbers}, GROUP_BYTES // BANK_BYTES
    roles: dict[Any, str] = {bank: kind(group) for bank, group in group_of.items()}
    groups = sorted(set(group_of.values()))
    return roles, tuple((kind(group), f"banks {group * each}\u2013{group * each + each - 1}") for group in groups)


def _kinds(numbers: set[int], prefix: str) -> tuple[dict[Any, str], Legend]:
    roles: dict[Any, str] = {number: kind(number) for number in numbers}
    legend = []
    for place in range(KINDS):
        same = sorted(number for number in numbers if number % KINDS == place)
        if same:
            legend.append((kind(place), _listed(prefix, same)))
    return roles, tuple(legend)


def _listed(prefix: str, numbers: Sequence[int]) -> str:
    """Return the first numbers as text; a prefix that is a word is written once, a letter before each number."""
    word, letter = (prefix, "") if prefix.endswith(" ") else ("", prefix)
    names = [f"{letter}{number}" for number in numbers[:_NAMED]]
    return word + ", ".join(names) + (", \u2026" if len(numbers) > _NAMED else "")


_HELD = {
    "offset": "its offset",
    "image": "the coordinate that the layout gives",
    "index": "its index",
    "coord": "its coordinate",
    "bank": "its bank of shared memory",
    "block": "the number of its block",
    "mode": "its position in mode 1, of higher ranks in the modes after it",
    "thread": "the thread and the value that hold it",
    "value": "the value that holds it",
}
_FIRST = {
    "image": "the coordinate",
    "offset": "the offset",
    "index": "the index",
    "coord": "the coordinate",
    "bank": "the bank",
    "block": "the block",
    "mode": "the position in mode 1, of higher ranks in the modes after it",
    "thread": "the thread and value",
    "value": "the value",
}
_COLOUR = {
    "offset": "deepens with the offset",
    "bank": "is the group of four banks in which it lies",
    "block": "is its block",
    "mode": "is its position in mode 1",
    "slice": "is its slice",
    "thread": "is the thread that holds it",
    "value": "is the value that holds it",
}


def sentences(label: str, colour: str, element_bytes: int | None, has_number: str) -> str:
    """Return a sentence that explains the text and the color of cells.

    Args:
        label: the quantity that is the text of cells.
        colour: the quantity that determines their color.
        element_bytes: bytes of an element, if banks are shown.
        has_number: what has a number: each ``cell``, each ``block``, or nothing (``""``).
    """
    numbered = has_number if label != "none" else ""
    parts = [f"A cell holds {_HELD[label]}" if numbered == "cell" else "A cell is an element"]
    if numbered == "block":
        parts.append(f"a number is {_FIRST[label]} of a block's first cell")
    if colour != "none":
        colour_words = f"its colour {_COLOUR[colour]}" if numbered != "block" else f"a cell's colour {_COLOUR[colour]}"
        parts.append(colour_words)
    text = "; ".join(parts)
    if "bank" in (label if numbered else "", colour) and element_bytes is not None:
        text += f", at {element_bytes} byte{'s' * (element_bytes != 1)} an element"
    return text + "."


def tables(rows: int, columns: int, count: int, notation: str, was: str = "") -> str:
    """Return the first sentence of the description for readers who do not see the picture.

    >>> tables(4, 8, 1, "(4,8):(8,1)")
    'A table of 4 rows and 8 columns for (4,8):(8,1): mode 0 runs down, mode 1 across.'
    """
    subject = "A table" if count == 1 else f"{count} tables"
    after = f" after {was}" if was else ""
    return f"{subject} of {rows} rows and {columns} columns for {notation}{after}: mode 0 runs down, mode 1 across."
