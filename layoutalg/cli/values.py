"""Values of expressions as a command answers with them: as text, as data, with all offsets, two of them compared."""

from __future__ import annotations

from sys import get_int_max_str_digits
from typing import Any

from layoutalg.algebra.symbols import prove, symbols_of
from layoutalg.errors import LayoutError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import size
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import text

#: The most offsets that one answer holds.
MOST_CELLS = 1 << 20


def tell(value: Any) -> str:
    """A value as `eval` prints it: CuTe notation; ``None`` and truth values by their Python names.

    >>> tell((8, (None, 4))), tell(None), tell(True)
    ('(8,(_,4))', 'None', 'True')
    """
    try:
        return str(value) if value is None else text(value)
    except LayoutError:  # a ValueError too: the text of a tiled MMA computes its partitions
        raise
    except ValueError as error:  # an integer of more digits than Python prints
        raise LayoutError(
            f"value: a number has more than {get_int_max_str_digits()} digits, which Python does not print"
        ) from error


def record(value: Any) -> dict[str, Any]:
    """A value as plain data: its ``kind``, its ``text`` in CuTe notation, its parts; int tuples as nested lists.

    >>> record((8, 2))
    {'kind': 'tuple', 'text': '(8,2)', 'value': [8, 2]}
    """
    text_field = {"text": tell(value)}
    match value:
        case Layout():
            return {
                "kind": "layout",
                **text_field,
                "shape": _numbers(value.shape),
                "stride": _numbers(value.stride),
                "size": _numbers(size(value)),
            }
        case ComposedLayout():
            parts = {"outer": record(value.outer), "offset": _numbers(value.offset), "inner": record(value.inner)}
            shape, total = _numbers(value.shape), _numbers(size(value))
            return {"kind": "composed_layout", **text_field, "shape": shape, **parts, "size": total}
        case Swizzle():
            return {"kind": "swizzle", **text_field, "bits": value.bits, "base": value.base, "shift": value.shift}
        case tuple() if any(isinstance(item, (Layout, ComposedLayout, Swizzle)) for item in value):
            return {"kind": "tuple", **text_field, "items": [record(item) for item in value]}
        case tuple():
            return {"kind": "tuple", **text_field, "value": _numbers(value)}
        case None | bool() | int():
            return {"kind": "none" if value is None else type(value).__name__, **text_field, "value": value}
    return {"kind": type(value).__name__, **text_field}


def _numbers(value: Any) -> Any:
    """An int tuple as nested lists of numbers; a basis stride or symbols, which JSON has no number for, as text."""
    if isinstance(value, tuple):
        return [_numbers(item) for item in value]
    return value if value is None or isinstance(value, int) else str(value)


def record_offsets(layout: Any) -> dict[str, Any]:
    """A layout as plain data, with all its offsets.

    >>> from layoutalg import Layout
    >>> record_offsets(Layout((2, 2), (2, 1)))["offsets"]
    [[0, 1], [2, 3]]
    """
    return record(layout) | {"offsets": _nested_offsets(layout)}


def _nested_offsets(layout: Any) -> Any:
    """All offsets, nested by top-level mode: ``offsets[i][j]`` is ``layout(i, j)``."""
    need_few_cells(layout, "draw a part of it with --rows and --columns")
    if not isinstance(layout.shape, tuple):
        return [_numbers(layout(index)) for index in range(layout.shape)]
    extents = [size(mode) for mode in layout.shape]

    def level(prefix: tuple[int, ...]) -> Any:
        if len(prefix) == len(extents):
            return _numbers(layout(prefix))
        return [level((*prefix, index)) for index in range(extents[len(prefix)])]

    return level(())


def need_few_cells(layout: Any, otherwise: str) -> None:
    """Refuse a layout with more offsets than one answer holds.

    Raises:
        LayoutError: if the size exceeds ``MOST_CELLS``; the message ends with what to do ``otherwise``.
    """
    if size(layout) > MOST_CELLS:
        raise LayoutError(f"show: the layout has {size(layout)} elements, more than {MOST_CELLS}; {otherwise}")


def difference(first: Any, second: Any) -> str:
    """How two values differ, in one line; empty if they do not."""
    if not all(isinstance(value, (Layout, ComposedLayout)) for value in (first, second)):
        return "" if first == second else f"{tell(first)} is not {tell(second)}"
    if symbols_of(first) or symbols_of(second):
        proof = prove(first, second)
        return "" if proof else str(proof)
    if size(first) != size(second):
        return f"sizes differ: {size(first)} and {size(second)}"
    if first == second:
        return ""
    need_few_cells(first, "larger layouts are not compared")
    for index in range(size(first)):
        if first(index) != second(index):
            return f"differ at index {index}: {tell(first(index))} and {tell(second(index))}"
    return ""
