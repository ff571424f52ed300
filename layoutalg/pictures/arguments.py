"""Arguments of a picture, checked before anything is drawn.

>>> try:
...     one_of("red", ("offset", "bank"), "colour")
... except LayoutError as error:
...     print(error)
draw: colour must be one of offset, bank, found 'red'
"""

from __future__ import annotations

from collections.abc import Iterable

from layoutalg.drawing.grid import Drawable
from layoutalg.errors import LayoutError, brief
from layoutalg.fragments.fragment import Fragment
from layoutalg.layouts.modes import AnyLayout
from layoutalg.tuples.int_tuple import product as size
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int

#: The most levels of borders that a caller may ask for: more cannot be told apart.
MOST_LEVELS = 3


def held_by(fragment: Fragment, layout: Drawable) -> AnyLayout:
    """The thread-value layout of a fragment whose tile is of the layout's shape."""
    shape = getattr(layout, "shape", None)
    extents = tuple(map(size, shape)) if type(shape) is tuple else shape
    if extents != fragment.shape:
        raise LayoutError(
            f"draw: the layout must have the shape of {fragment.name}, {fragment.shape[0]} x {fragment.shape[1]}, "
            f"found {safe_text(layout)}"
        )
    return fragment.layout


def one_of(name: str, names: tuple[str, ...], what: str) -> str:
    """The name, which is one of some."""
    if not isinstance(name, str) or name not in names:
        raise LayoutError(f"draw: {what} must be one of {', '.join(names)}, found {brief(name)}")
    return name


def positive(value: object, what: str) -> int:
    """The value as an integer of at least 1.

    >>> positive(2, "element_bytes")
    2
    """
    number = as_int(value, f"draw: {what}")
    if number < 1:
        raise LayoutError(f"draw: {what} must be positive, found {number}")
    return number


def levels_of(levels: Iterable[tuple[int, int]] | None) -> tuple[tuple[int, int], ...] | None:
    """Rows and columns of blocks as pairs; ``None`` stays.

    >>> levels_of([[8, 64]])
    ((8, 64),)
    """
    if levels is None:
        return None
    try:
        pairs = [(rows, columns) for rows, columns in levels]
    except (TypeError, ValueError):
        raise LayoutError(f"draw: levels must be pairs of rows and columns, found {brief(levels)}") from None
    if len(pairs) > MOST_LEVELS:
        raise LayoutError(f"draw: there must be at most {MOST_LEVELS} levels, found {len(pairs)}")
    return tuple((positive(rows, "a level's rows"), positive(columns, "a level's columns")) for rows, columns in pairs)
