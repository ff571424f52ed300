"""Values as a command answers with them: as text, as JSON, as a list of offsets, as a comparison."""

from __future__ import annotations

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


def shown(value: Any) -> str:
    """A value as `eval` prints it: CuTe notation; ``None`` and truth values by their Python names.

    >>> shown((8, (None, 4))), shown(None), shown(True)
    ('(8,(_,4))', 'None', 'True')
    """
    return str(value) if value is None else text(value)


def describe(value: Any) -> dict[str, Any]:
    """A value as JSON: its ``kind``, its ``text`` in CuTe notation, and its parts; int tuples become nested lists.

    >>> describe((8, 2))
    {'kind': 'tuple', 'text': '(8,2)', 'value': [8, 2]}
    """
    told = {"text": shown(value)}
    match value:
        case Layout():
            return {"kind": "layout", **told, "shape": value.shape, "stride": _plain(value.stride), "size": size(value)}
        case ComposedLayout():
            parts = {"outer": describe(value.outer), "offset": value.offset, "inner": describe(value.inner)}
            return {"kind": "composed_layout", **told, "shape": value.shape, **parts, "size": size(value)}
        case Swizzle():
            return {"kind": "swizzle", **told, "bits": value.bits, "base": value.base, "shift": value.shift}
        case tuple() if any(isinstance(item, (Layout, ComposedLayout, Swizzle)) for item in value):
            return {"kind": "tuple", **told, "items": [describe(item) for item in value]}
        case tuple():
            return {"kind": "tuple", **told, "value": _plain(value)}
        case None | bool() | int():
            return {"kind": "none" if value is None else type(value).__name__, **told, "value": value}
    return {"kind": type(value).__name__, **told}


def _plain(value: Any) -> Any:
    """An int tuple as nested lists of numbers; a basis stride, which JSON has no number for, as its text."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, int) else str(value)


def nested_offsets(layout: Any) -> Any:
    """All offsets, nested by top-level mode: ``offsets[i][j]`` is ``layout(i, j)``."""
    need_few_cells(layout, "draw a part of it with --rows and --columns")
    if not isinstance(layout.shape, tuple):
        return [_plain(layout(index)) for index in range(layout.shape)]
    extents = [size(mode) for mode in layout.shape]

    def level(prefix: tuple[int, ...]) -> Any:
        if len(prefix) == len(extents):
            return _plain(layout(prefix))
        return [level((*prefix, index)) for index in range(extents[len(prefix)])]

    return level(())


def need_few_cells(layout: Any, otherwise: str) -> None:
    """Refuse a layout with more offsets than one answer holds.

    Raises:
        LayoutError: if the size exceeds ``MOST_CELLS``; the message ends with what to do ``otherwise``.
    """
    if size(layout) > MOST_CELLS:
        raise LayoutError(f"show: the size must be at most {MOST_CELLS}, found {size(layout)}; {otherwise}")


def difference(first: Any, second: Any) -> str:
    """How two values differ, in one line; empty if they do not."""
    if not all(isinstance(value, (Layout, ComposedLayout)) for value in (first, second)):
        return "" if first == second else f"{shown(first)} is not {shown(second)}"
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
            return f"differ at index {index}: {shown(first(index))} and {shown(second(index))}"
    return ""
