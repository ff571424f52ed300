"""Conversions of the values of expressions to text and to plain data, and the comparison of two values."""

from __future__ import annotations

from sys import get_int_max_str_digits
from typing import TYPE_CHECKING, Any

from layoutalg.algebra.symbols import prove, symbols_of
from layoutalg.errors import LayoutError
from layoutalg.fragments.copy_atoms import CopyAtom
from layoutalg.fragments.tiled_copy import TiledCopy
from layoutalg.fragments.tiled_mma import MmaAtom, TiledMma
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import size
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import text

#: Values in a tuple that have a record of their own.
_COMPOUND = (Layout, ComposedLayout, Swizzle, TiledCopy, TiledMma, CopyAtom, MmaAtom)

if TYPE_CHECKING:
    from layoutalg.explanations.step import ExplanationStep

#: The most offsets of one answer.
MOST_CELLS = 1 << 20


def value_text(value: Any) -> str:
    """Return a value as ``eval`` prints it: in CuTe notation, with Python's names of ``None`` and truth values.

    >>> value_text((8, (None, 4))), value_text(None), value_text(True)
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
    """Return a value as plain data: its ``kind``, its ``text`` in CuTe notation and its parts, tuples as nested lists.

    >>> record((8, 2))
    {'kind': 'tuple', 'text': '(8,2)', 'value': [8, 2]}
    """
    text_field = {"text": value_text(value)}
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
        case tuple() if any(isinstance(item, _COMPOUND) for item in value):
            return {"kind": "tuple", **text_field, "items": [record(item) for item in value]}
        case tuple():
            return {"kind": "tuple", **text_field, "value": _numbers(value)}
        case TiledCopy():
            return {"kind": "TiledCopy", **text_field, **_copy_fields(value)}
        case TiledMma():
            return {"kind": "TiledMma", **text_field, **_mma_fields(value)}
        case CopyAtom():
            return {"kind": "CopyAtom", **text_field, "threads": value.threads, "atom": _atom_fields(value)}
        case MmaAtom():
            operands = {operand: str(getattr(value, operand.lower())) for operand in "ABC"}
            shape = {"threads": value.threads, "shape_mnk": list(value.shape_mnk)}
            return {"kind": "MmaAtom", **text_field, **shape, "tv_layouts": operands}
        case None | bool() | int():
            return {"kind": "none" if value is None else type(value).__name__, **text_field, "value": value}
    return {"kind": type(value).__name__, **text_field}


def _copy_fields(copy: TiledCopy) -> dict[str, Any]:
    """Return the threads, the tile and the layouts of a tiled copy; layouts are texts in CuTe notation."""
    return {
        "threads": copy.size,
        "tiler": [value_text(tiler) for tiler in copy.tiler],
        "layout_tv": str(copy.layout_tv),
        "layout_src_tv": str(copy.layout_src_tv_tiled),
        "layout_dst_tv": str(copy.layout_dst_tv_tiled),
        "atom": _atom_fields(copy.atom),
    }


def _atom_fields(atom: CopyAtom) -> dict[str, str]:
    return {"source": str(atom.source), "destination": str(atom.destination), "reference": str(atom.reference)}


def _mma_fields(mma: TiledMma) -> dict[str, Any]:
    """Return the threads, the tile and the layouts of a tiled MMA."""
    return {
        "threads": mma.size,
        "shape_mnk": list(mma.shape_mnk),
        "tile_mnk": list(mma.tile_mnk),
        "thr_layout_vmnk": str(mma.thr_layout_vmnk),
        "permutation_mnk": [value_text(tiler) for tiler in mma.permutation],
        "tv_layouts": {operand: str(mma.tv_layout(operand)) for operand in mma.operands},
    }


def noted(value: Any, notes: list[str]) -> dict[str, Any]:
    """Return a value and the notes about it as plain data."""
    return record(value) | ({"notes": notes} if notes else {})


def noted_text(value: Any, notes: list[str]) -> str:
    """Return a value and the notes about it as text, each on its line."""
    return "\n".join([value_text(value), *(f"note: {note}" for note in notes)])


def _numbers(value: Any) -> Any:
    """Return an int tuple as nested lists of numbers; basis strides and symbols are text."""
    if isinstance(value, tuple):
        return [_numbers(item) for item in value]
    return value if value is None or isinstance(value, int) else str(value)


def record_step(step: ExplanationStep) -> dict[str, Any]:
    """Return a step of an explanation as plain data, with the steps below it.

    >>> from layoutalg import explain
    >>> record_step(explain("size(8:1)").steps[0])["result"]
    {'kind': 'int', 'text': '8', 'value': 8}
    """
    return {
        "text": step.text,
        "operation": step.operation,
        "operands": [value_text(operand) for operand in step.operands],
        "result": None if step.result is None else record(step.result),
        "condition": step.condition,
        "holds": step.holds,
        "steps": [record_step(below) for below in step.steps],
    }


def record_offsets(layout: Any) -> dict[str, Any]:
    """Return a layout as plain data with all its offsets.

    >>> from layoutalg import Layout
    >>> record_offsets(Layout((2, 2), (2, 1)))["offsets"]
    [[0, 1], [2, 3]]
    """
    return record(layout) | {"offsets": _nested_offsets(layout)}


def _nested_offsets(layout: Any) -> Any:
    """Return all offsets, nested by top-level mode: ``offsets[i][j]`` is ``layout(i, j)``."""
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
    """Check that one answer may contain all offsets of a layout.

    Args:
        layout: the layout.
        otherwise: the end of the message: what to do with a larger layout.

    Raises:
        LayoutError: if the layout has more than ``MOST_CELLS`` offsets.
    """
    if size(layout) > MOST_CELLS:
        raise LayoutError(f"show: the layout has {size(layout)} elements, more than {MOST_CELLS}; {otherwise}")


def difference(first: Any, second: Any) -> str:
    """Describe the difference of two values in one line; return an empty text if there is none."""
    if type(first) is type(second) and isinstance(first, (TiledCopy, TiledMma)):
        return _difference_of_tiles(first, second)
    if not all(isinstance(value, (Layout, ComposedLayout)) for value in (first, second)):
        return "" if first == second else f"{value_text(first)} is not {value_text(second)}"
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
            return f"differ at index {index}: {value_text(first(index))} and {value_text(second(index))}"
    return ""


def _difference_of_tiles(first: Any, second: Any) -> str:
    """Describe the first side or operand in which two tiled copies or MMAs have other elements."""
    names = ("S", "D") if isinstance(first, TiledCopy) else first.operands
    for name in names:
        own, other = first.fragment(name), second.fragment(name)
        if own.shape != other.shape:
            return f"{name}: tiles of {own.extents} and {other.extents}"
        if mismatch := difference(own.layout, other.layout):
            return f"{name}: {mismatch}"
    return ""
