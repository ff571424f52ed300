"""Layouts of printed TileLang layouts and fragments, whose expressions are evaluated at every coordinate.

``Layout((64, 64) -> (1, 8, 512), transform: (_i, _j) -> (...))`` maps an element to its position in a row-major buffer
of the second shape. ``Fragment((16, 8) -> (4,), replicate: 1, thread: 32, forward_thread: ..., forward_index: ...)``
maps it to a thread and to a position in the thread's values; ``_rep`` numbers the threads that hold the same element.

Invariant: the layout has the printed offset at every coordinate, or the text is refused.

Source: TileLang 0.1.15 ``src/layout/layout.cc`` (LayoutNode::DebugOutput, FragmentNode::DebugOutput).

>>> printed = "Layout((8, 16) -> (128,), transform: (_i, _j) -> (_i * 16 + (_j // 8 + _i) % 2 * 8 + _j % 8,))"
>>> match = tilelang_match(printed)
>>> print(*shared(match))
(8, 16) S<1,3,1> o 0 o (8,16):(16,1)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from layoutalg.errors import LayoutError, NotationError, brief
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, size
from layoutalg.layouts.offsets import from_offsets, offsets
from layoutalg.layouts.swizzle import Swizzle

#: The most elements of a printed layout.
_MOST = 1 << 20
#: The most characters of an expression; the longest of TileLang have a thousand.
_MOST_TYPED = 1 << 14

_SHAPE = r"[\[(]\s*({0}\d{{1,9}}(?:\s*,\s*\d{{1,9}})*)\s*,?\s*[\])]"
_HEAD = rf"\(\s*{_SHAPE.format('?P<inside>')}\s*->\s*{_SHAPE.format('?P<outside>')}\s*,\s*"
_PRINTS = re.compile(
    rf"\b(?:(?P<layout>Layout){_HEAD}transform:\s*[\[(](?P<names>[\w\s,]*)[\])]\s*->\s*(?P<index>[\[(].*[\])])\s*\)"
    rf"|(?P<fragment>Fragment){_HEAD.replace('side', 'side2')}replicate:\s*(?P<replicate>\d{{1,6}})\s*,\s*"
    r"thread:\s*(?P<threads>\d{1,6})\s*,\s*forward_thread:\s*(?P<thread>.*?)\s*,\s*forward_index:\s*"
    r"(?P<value>[\[(].*?[\])])\s*(?:,\s*thread_range:.*?)?\))\s*(?=$|[^\s,)])",
    re.DOTALL | re.ASCII,
)


def tilelang_match(text: str) -> re.Match[str] | None:
    """Return the match of the first printed layout or fragment in a text; None if there is none."""
    return _PRINTS.search(text) if "transform:" in text or "forward_thread:" in text else None


def shared(match: re.Match[str]) -> tuple[tuple[int, ...], AnyLayout]:
    """Return the shape of a printed layout, and the layout: coordinates to offsets.

    Raises:
        NotationError: if an expression cannot be evaluated.
        LayoutError: if no layout with at most one swizzle has these offsets.
    """
    shape, outside = _numbers(match["inside"]), _numbers(match["outside"])
    names = [name.strip() for name in match["names"].split(",") if name.strip()]
    if len(names) != len(shape):
        _refuse(f"the transform has {len(names)} coordinates, and the layout has {len(shape)} dimensions")
    indices = _values(match["index"], dict(zip(names, _grid(shape), strict=True)))
    return shape, from_table(_flat(_row_major(indices, outside), shape), shape)


def registers(match: re.Match[str]) -> tuple[tuple[int, ...], Layout]:
    """Return the shape of a printed fragment, and the layout (thread, value) to an element, first mode fastest.

    Raises:
        NotationError: if an expression cannot be evaluated, or a value of a thread is no element or several.
        LayoutError: if no layout is this map.
    """
    import numpy as np

    shape, threads = _numbers(match["inside2"]), int(match["threads"])
    whole = (*shape, int(match["replicate"]))
    names = [f"_{chr(ord('i') + dim)}" for dim in range(len(shape))]
    variables = dict(zip([*names, "_rep"], _grid(whole), strict=True))
    (thread,), indices = _values(f"({match['thread']},)", variables), _values(match["value"], variables)
    value = _row_major(indices, _numbers(match["outside2"]))
    values = size(Layout(_numbers(match["outside2"])))
    index = _flat(np.broadcast_to(np.arange(size(Layout(shape))).reshape(shape + (1,), order="F"), whole), whole)
    cells = [t + threads * v for t, v in zip(_flat(thread, whole), _flat(value, whole), strict=True)]
    elements = dict(zip(cells, index, strict=True))
    if sorted(cells) != list(range(threads * values)):
        _refuse(
            f"{len(elements)} of the {threads * values} values of all threads hold an element; each value of a "
            "fragment holds one element"
        )
    layout = from_table([elements[cell] for cell in range(threads * values)], (threads, values))
    if not isinstance(layout, Layout):
        _refuse(f"the thread-value layout {layout} has a swizzle; a fragment has no swizzle")
    return shape, layout


def from_table(table: Sequence[int], shape: tuple[int, ...]) -> AnyLayout:
    """Return the layout with these offsets, first mode fastest, if necessary with the swizzle of the fewest bits.

    Raises:
        LayoutError: if there is no layout with at most one swizzle.

    >>> print(from_table([0, 3, 4, 7, 8, 11], (2, 3)), from_table([0, 5, 1, 4], (2, 2)))
    (2,3):(3,4) S<1,0,2> o 0 o (2,2):(4,1)
    """
    for swizzle in [None, *(Swizzle(b, m, s) for b in range(1, 6) for m in range(9) for s in range(b, 9))]:
        step, modes = 1, []
        for extent in shape:
            line = table[: step * extent : step]
            modes.append(from_offsets([swizzle(offset) for offset in line] if swizzle else line))
            step *= extent
        if all(mode is not None for mode in modes):
            plain = Layout(tuple(m.shape for m in modes if m), tuple(m.stride for m in modes if m))
            layout: AnyLayout = plain if swizzle is None else ComposedLayout(swizzle, 0, plain)
            if list(offsets(layout).ravel(order="F")) == list(table):
                return layout
    raise LayoutError(f"TileLang: the offsets are not those of a layout with at most one swizzle; shape = {shape}")


def _refuse(fact: str) -> NoReturn:
    raise NotationError(f"TileLang: {fact}")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in text.split(","))


def _grid(shape: tuple[int, ...]) -> Any:
    """Return the coordinates of every element, one array for each dimension."""
    import numpy as np

    if not 0 < size(Layout(shape)) <= _MOST:
        _refuse(f"the layout has {size(Layout(shape))} elements; supported: 1 to {_MOST} elements")
    return np.meshgrid(*(np.arange(extent, dtype=np.int64) for extent in shape), indexing="ij")


def _row_major(indices: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Return the indices of a buffer as one number, the last dimension fastest."""
    import numpy as np

    if len(indices) != len(shape):
        _refuse(f"there are {len(indices)} indices, and the buffer has {len(shape)} dimensions")
    if size(Layout(shape)) > 1 << 40:
        _refuse(f"the buffer has {size(Layout(shape))} elements; supported: at most {1 << 40}")
    offset: Any = 0
    for index, extent in zip(indices, shape, strict=True):
        if not np.all((index >= 0) & (index < extent)):
            lowest, highest = int(np.min(index)), int(np.max(index))
            _refuse(f"an index is {lowest if lowest < 0 else highest}, which is not in [0,{extent})")
        offset = offset * extent + index
    return offset


def _flat(values: Any, shape: tuple[int, ...]) -> list[int]:
    """Return numbers at all coordinates as a list, first dimension fastest."""
    import numpy as np

    return [int(value) for value in np.broadcast_to(values, shape).ravel(order="F")]


def _values(text: str, variables: dict[str, Any]) -> list[Any]:
    """Evaluate a list of expressions, each at all coordinates at once."""
    import ast

    if len(text) > _MOST_TYPED:
        _refuse(f"an expression has {len(text)} characters; supported: at most {_MOST_TYPED}")
    try:
        tree = ast.parse(text.strip().replace("\n", " "), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        _refuse(f"{brief(text)} is not an expression of the coordinates")
    if not isinstance(tree, (ast.Tuple, ast.List)):
        _refuse(f"{brief(text)} is not a list of expressions")
    try:
        return [_value(node, variables) for node in tree.elts]
    except (ZeroDivisionError, RecursionError):
        _refuse(f"{brief(text)} cannot be evaluated: a division by 0, an invalid shift or too many levels")


def _value(node: Any, variables: dict[str, Any]) -> Any:
    """Evaluate one expression of coordinates, numbers and operators on integers."""
    import ast

    match node:
        case ast.Constant(value=int(number)) if type(number) is int and abs(number) < 1 << 40:
            return number
        case ast.Name(id=name) if name in variables:
            return variables[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op).__name__ in _operators():
            return _applied(_operators()[type(op).__name__], _value(left, variables), _value(right, variables))
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[left, right], keywords=[]):
            if name in _FUNCTIONS:
                operator = _operators()[_FUNCTIONS[name]]
                return _applied(operator, _value(left, variables), _value(right, variables))
    _refuse(f"{brief(ast.unparse(node))} is not supported; supported: coordinates, numbers and + - * // % ^ & | << >>")


def _applied(operator: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    import numpy as np

    if operator in (_operators()["FloorDiv"], _operators()["Mod"]) and not np.all(right):
        raise ZeroDivisionError
    if operator in (_operators()["LShift"], _operators()["RShift"]) and not np.all((right >= 0) & (right < 40)):
        raise ZeroDivisionError
    return operator(np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64))


#: TIR's calls and the operators that they are. All divisions are the same, because coordinates are not negative.
_FUNCTIONS = dict(
    pair.split("=")
    for pair in (
        "bitwise_xor=BitXor bitwise_and=BitAnd bitwise_or=BitOr shift_left=LShift shift_right=RShift "
        "floordiv=FloorDiv floormod=Mod truncdiv=FloorDiv truncmod=Mod"
    ).split()
)


def _operators() -> dict[str, Callable[[Any, Any], Any]]:
    import operator as op

    names = "Add Sub Mult FloorDiv Mod BitXor BitAnd BitOr LShift RShift".split()
    functions = (op.add, op.sub, op.mul, op.floordiv, op.mod, op.xor, op.and_, op.or_, op.lshift, op.rshift)
    return dict(zip(names, functions, strict=True))
