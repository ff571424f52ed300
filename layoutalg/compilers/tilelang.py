"""TileLang's layouts and fragments, as they are printed: expressions of the coordinates, evaluated at each of them.

``Layout((64, 64) -> (1, 8, 512), transform: (_i, _j) -> (...))`` says where an element lies in a buffer of the second
shape, row-major. ``Fragment((16, 8) -> (4,), replicate: 1, thread: 32, forward_thread: ..., forward_index: ...)`` says
which thread has it, in which place; ``_rep`` counts the threads that have the same.
Law: the layout has the offset of every coordinate, or there is none.
Source: TileLang 0.1.15 ``src/layout/layout.cc`` (LayoutNode::DebugOutput, FragmentNode::DebugOutput).

>>> printed = "Layout((8, 16) -> (128,), transform: (_i, _j) -> (_i * 16 + (_j // 8 + _i) % 2 * 8 + _j % 8,))"
>>> found = tilelang_match(printed)
>>> print(*shared(found))
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

#: The most elements whose places are computed.
_MOST = 1 << 20
#: Characters of an expression; TileLang's longest have a thousand.
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
    """What a text has of a printed layout or fragment; None if it has none."""
    return _PRINTS.search(text) if "transform:" in text or "forward_thread:" in text else None


def shared(match: re.Match[str]) -> tuple[tuple[int, ...], AnyLayout]:
    """The shape of a printed layout, and the layout: coordinates to offsets.

    Raises:
        NotationError: if an expression is none of coordinates.
        LayoutError: if no layout after at most one swizzle has these offsets.
    """
    shape, outside = _numbers(match["inside"]), _numbers(match["outside"])
    names = [name.strip() for name in match["names"].split(",") if name.strip()]
    if len(names) != len(shape):
        _refuse(f"there must be a name for each of {len(shape)} dimensions", ", ".join(names))
    places = _values(match["index"], dict(zip(names, _grid(shape), strict=True)))
    return shape, from_table(_flat(_row_major(places, outside), shape), shape)


def registers(match: re.Match[str]) -> tuple[tuple[int, ...], Layout]:
    """The shape of a printed fragment, and the layout (thread, value) to the index of an element, first mode fastest.

    Raises:
        NotationError: if an expression is none of coordinates; if a thread's value is no element, or two.
        LayoutError: if no layout is this map.
    """
    import numpy as np

    shape, threads = _numbers(match["inside2"]), int(match["threads"])
    whole = (*shape, int(match["replicate"]))
    names = [f"_{chr(ord('i') + dim)}" for dim in range(len(shape))]
    variables = dict(zip([*names, "_rep"], _grid(whole), strict=True))
    (thread,), places = _values(f"({match['thread']},)", variables), _values(match["value"], variables)
    value = _row_major(places, _numbers(match["outside2"]))
    values = size(Layout(_numbers(match["outside2"])))
    index = _flat(np.broadcast_to(np.arange(size(Layout(shape))).reshape(shape + (1,), order="F"), whole), whole)
    cells = [t + threads * v for t, v in zip(_flat(thread, whole), _flat(value, whole), strict=True)]
    held = dict(zip(cells, index, strict=True))
    if sorted(cells) != list(range(threads * values)):
        _refuse("each value of each thread must be one element", f"{len(held)} of {threads * values}")
    layout = from_table([held[cell] for cell in range(threads * values)], (threads, values))
    if not isinstance(layout, Layout):
        _refuse("threads and values must be a layout without a swizzle", layout)
    return shape, layout


def from_table(table: Sequence[int], shape: tuple[int, ...]) -> AnyLayout:
    """The layout with these offsets, first mode fastest: a plain one, or one after the swizzle of the fewest bits.

    Raises:
        LayoutError: if there is none.

    >>> print(from_table([0, 3, 4, 7, 8, 11], (2, 3)), from_table([0, 5, 1, 4], (2, 2)))
    (2,3):(3,4) S<1,0,2> o 0 o (2,2):(4,1)
    """
    for swizzle in [None, *(Swizzle(b, m, s) for b in range(1, 6) for m in range(9) for s in range(b, 9))]:
        step, modes = 1, []
        for extent in shape:
            line = table[: step * extent : step]
            modes.append(from_offsets([swizzle(one) for one in line] if swizzle else line))
            step *= extent
        if all(mode is not None for mode in modes):
            plain = Layout(tuple(m.shape for m in modes if m), tuple(m.stride for m in modes if m))
            layout: AnyLayout = plain if swizzle is None else ComposedLayout(swizzle, 0, plain)
            if list(offsets(layout).ravel(order="F")) == list(table):
                return layout
    raise LayoutError(f"TileLang: must be a layout after at most one swizzle, found none; shape = {shape}")


def _refuse(rule: str, found: object) -> NoReturn:
    raise NotationError(f"TileLang: {rule}, found {brief(found)}")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(","))


def _grid(shape: tuple[int, ...]) -> Any:
    """The coordinates of every element, one array for each dimension."""
    import numpy as np

    if not 0 < size(Layout(shape)) <= _MOST:
        _refuse(f"there must be at most {_MOST} elements", size(Layout(shape)))
    return np.meshgrid(*(np.arange(extent, dtype=np.int64) for extent in shape), indexing="ij")


def _row_major(places: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Indices of a buffer as one number, the last dimension fastest."""
    import numpy as np

    if len(places) != len(shape) or size(Layout(shape)) > 1 << 40:
        _refuse(f"there must be an index for each of {len(shape)} dimensions", len(places))
    offset: Any = 0
    for place, extent in zip(places, shape, strict=True):
        if not np.all((place >= 0) & (place < extent)):
            _refuse(f"an index must lie in [0,{extent})", int(np.max(place)))
        offset = offset * extent + place
    return offset


def _flat(values: Any, shape: tuple[int, ...]) -> list[int]:
    """Numbers at all coordinates as a list, first dimension fastest."""
    import numpy as np

    return [int(one) for one in np.broadcast_to(values, shape).ravel(order="F")]


def _values(text: str, variables: dict[str, Any]) -> list[Any]:
    """The values of a list of expressions, each at all coordinates at once."""
    import ast

    if len(text) > _MOST_TYPED:
        _refuse(f"an expression must have at most {_MOST_TYPED} characters", len(text))
    try:
        tree = ast.parse(text.strip().replace("\n", " "), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        _refuse("an index must be an expression of the coordinates", text)
    if not isinstance(tree, (ast.Tuple, ast.List)):
        _refuse("an index must be a list of expressions", text)
    try:
        return [_value(one, variables) for one in tree.elts]
    except (ZeroDivisionError, RecursionError):
        _refuse("an expression must have a value", text)


def _value(node: Any, variables: dict[str, Any]) -> Any:
    """The value of one expression of coordinates, numbers and the operators on integers."""
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
    _refuse("an expression must be made of coordinates, numbers and + - * // % ^ & | << >>", ast.unparse(node))


def _applied(operator: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    import numpy as np

    if operator in (_operators()["FloorDiv"], _operators()["Mod"]) and not np.all(right):
        raise ZeroDivisionError
    if operator in (_operators()["LShift"], _operators()["RShift"]) and not np.all((right >= 0) & (right < 40)):
        raise ZeroDivisionError
    return operator(np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64))


#: TIR's calls that stand for operators; divisions of coordinates, which are not negative, are all one.
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
