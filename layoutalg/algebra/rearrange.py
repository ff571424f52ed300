"""The operations that rearrange modes: ``select``, ``flatten``, ``append``, ``prepend`` and ``group_modes``.

They select, add or regroup modes, but do not change the offsets of a mode. Each function accepts an int tuple, a
:class:`Layout` or a :class:`ComposedLayout` (whose inner layout it changes).
Source: CUTLASS ``include/cute/layout.hpp``; names and argument order of the CuTe DSL 4.8.1.

>>> from layoutalg import Layout, size
>>> a = Layout((2, (3, 4)), (12, (4, 1)))
>>> [flatten(a)(i) for i in range(size(a))] == [a(i) for i in range(size(a))]
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from layoutalg.errors import LayoutError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout, need_readable, trusted
from layoutalg.layouts.modes import LayoutKind, at_path, modes_of, need_plain, rank, shape_of, through
from layoutalg.tuples.int_tuple import IntTuple, check_depth, flatten_tuple, text
from layoutalg.tuples.leaf import as_int


@overload
def select(value: LayoutKind, modes: int | Sequence[int]) -> LayoutKind: ...
@overload
def select(value: IntTuple, modes: int | Sequence[int]) -> tuple[IntTuple, ...]: ...
def select(value: Any, modes: int | Sequence[int]) -> Any:
    """Return the given top-level modes in the given order, as a tuple of modes even for one mode.

    Raises:
        LayoutError: if there is no such mode.

    >>> print(select(Layout((2, 3, 4)), [2, 0]), select((2, 3, 4), [1]))
    (4,2):(6,1) (3,)
    """
    picked: list[Any] = list(modes) if isinstance(modes, (list, tuple, range)) else [modes]
    return _rebuild(value, lambda parts: tuple(at_path(parts, mode, "select") for mode in picked), "select")


@overload
def flatten(value: LayoutKind) -> LayoutKind: ...
@overload
def flatten(value: IntTuple) -> IntTuple: ...
def flatten(value: Any) -> Any:
    """Return the same leaves in one flat tuple; an integer shape does not change.

    >>> print(flatten(Layout((2, (3, 4)))))
    (2,3,4):(1,2,6)
    """
    if isinstance(value, (Layout, ComposedLayout)):
        return through(_flatten_layout, value)
    check_depth(value, "flatten: the tuple")
    return flatten_tuple(value) if type(value) is tuple else value


def _flatten_layout(layout: Layout) -> Layout:
    if type(layout.shape) is not tuple:
        return layout
    return trusted(flatten_tuple(layout.shape), flatten_tuple(layout.stride))


def _rebuild(value: Any, arrange: Callable[[tuple[Any, ...]], tuple[Any, ...]], operation: str) -> Any:
    """Apply a function that arranges top-level modes to a tuple, or to the shape and stride of a layout."""
    if isinstance(value, (Layout, ComposedLayout)):

        def arrange_layout(layout: Layout) -> Layout:
            shape, stride = modes_of(layout.shape), modes_of(layout.stride)
            return need_readable(trusted(arrange(shape), arrange(stride)), operation)

        return through(arrange_layout, value)
    result = arrange(modes_of(value))
    check_depth(result, f"{operation}: the result")
    return result


@overload
def append(value: LayoutKind, elem: Layout, up_to_rank: int | None = None) -> LayoutKind: ...
@overload
def append(value: IntTuple, elem: IntTuple, up_to_rank: int | None = None) -> IntTuple: ...
def append(value: Any, elem: Any, up_to_rank: int | None = None) -> Any:
    """Add a mode at the end, once or until the rank is ``up_to_rank``.

    Args:
        value: a shape or layout.
        elem: the mode to add: an int tuple to a shape, a plain layout to a layout.
        up_to_rank: repeat until this rank is reached; a value that already has it does not change.

    Raises:
        LayoutError: if a layout and an int tuple are mixed, or if ``up_to_rank`` adds more than 4096 modes.

    >>> print(append(Layout((4, 8)), Layout(3, 7)))
    (4,8,3):(1,4,7)
    """
    return _extend(value, elem, up_to_rank, "append")


@overload
def prepend(value: LayoutKind, elem: Layout, up_to_rank: int | None = None) -> LayoutKind: ...
@overload
def prepend(value: IntTuple, elem: IntTuple, up_to_rank: int | None = None) -> IntTuple: ...
def prepend(value: Any, elem: Any, up_to_rank: int | None = None) -> Any:
    """Add a mode at the front, once or until the rank is ``up_to_rank``; see :func:`append`.

    >>> print(prepend(Layout((4, 8)), Layout(3, 7)))
    (3,4,8):(7,1,4)
    """
    return _extend(value, elem, up_to_rank, "prepend")


def _extend(value: Any, elem: Any, up_to_rank: int | None, operation: str) -> Any:
    present = rank(value)
    times = 1 if up_to_rank is None else max(0, as_int(up_to_rank, f"{operation}: up_to_rank") - present)
    if up_to_rank is not None and times > 4096:
        raise LayoutError(f"{operation}: up_to_rank {up_to_rank} adds {times} modes, more than 4096")

    def join(old: Any, new: Any) -> tuple[Any, ...]:
        extra = (new,) * times
        return (*modes_of(old), *extra) if operation == "append" else (*extra, *modes_of(old))

    if isinstance(value, (Layout, ComposedLayout)):
        added = need_plain(elem, operation)
        if not times:
            return value
        return through(
            lambda a: need_readable(trusted(join(a.shape, added.shape), join(a.stride, added.stride)), operation),
            value,
        )
    result = join(value, elem) if times else value
    check_depth(result, f"{operation}: the result")
    return result


@overload
def group_modes(value: LayoutKind, begin: int, end: int | None = None) -> LayoutKind: ...
@overload
def group_modes(value: IntTuple, begin: int, end: int | None = None) -> tuple[IntTuple, ...]: ...
def group_modes(value: Any, begin: int, end: int | None = None) -> Any:
    """Replace modes ``[begin, end)`` by one mode that has them as sub-modes.

    Args:
        value: a shape or layout.
        begin: the first mode of the group.
        end: one past the last mode; a negative number counts from the rank; ``None`` is the rank.

    Raises:
        LayoutError: unless ``0 <= begin < end <= rank``.

    >>> print(group_modes(Layout((2, 3, 4, 5)), 1, 3))
    (2,(3,4),5):(1,(2,6),24)
    """
    total = rank(value)
    begin = as_int(begin, "group_modes: begin")
    end = total if end is None else as_int(end, "group_modes: end")
    end += total if end < 0 else 0
    if not 0 <= begin < end <= total:
        raise LayoutError(
            f"group_modes: [{begin},{end}) is not a non-empty range of the modes [0,{total}); operand = {text(value)}"
        )
    if type(shape_of(value)) is not tuple:
        return select(value, [0])  # an integer is treated as the tuple that contains it
    return _rebuild(value, lambda parts: (*parts[:begin], parts[begin:end], *parts[end:]), "group_modes")
