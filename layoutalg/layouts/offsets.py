"""All offsets of a layout, as a numpy array or as nested lists, and the layout of a list of offsets.

``offset_table`` computes the same numbers as ``offsets`` without numpy. It takes less time than the import of numpy for
a layout with a few thousand elements, and more time for a layout with a million. numpy is imported when
:func:`offsets` is called, so that the algebra runs without it.

Invariant: ``offsets(L)[c] == L(c)`` for every coordinate c of the top modes, and ``offset_table(L)`` equals
``offsets(L).tolist()``.

>>> from layoutalg import ComposedLayout, Layout, Swizzle
>>> tile = ComposedLayout(Swizzle(2, 1, 3), 0, Layout((8, 8), (8, 1)))
>>> all(offsets(tile)[i, j] == tile(i, j) for i in range(8) for j in range(8))
True
>>> offset_table(tile) == offsets(tile).tolist()
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from layoutalg.errors import LayoutError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout, need_integer_strides
from layoutalg.layouts.modes import AnyLayout, need_layout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import flatten_tuple, product, safe_text
from layoutalg.tuples.leaf import LIMIT, as_int, need_int

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray


from layoutalg.layouts.composed import apply


def offsets(layout: AnyLayout, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return the offset of every coordinate of a layout as a numpy array.

    Args:
        layout: a layout, plain or composed, with integer strides.
        dtype: the integer type of the result. Default: int32 if every offset and every intermediate value fits in it,
            else int64.

    Returns:
        An array with one axis for each top-level mode, in the unit of the layout's offsets.

    Raises:
        LayoutError: for basis strides and symbols, if the dtype is not an integer type or cannot represent the offsets,
            or if the layout has more than 2**40 elements.

    >>> from layoutalg import Layout
    >>> offsets(Layout((2, (2, 2)), (4, (1, 8)))).tolist()
    [[0, 1, 8, 9], [4, 5, 12, 13]]
    """
    import numpy as np

    need_layout(layout, "offsets")
    total = need_int(product(layout.shape), "offsets: the size")
    if total > 1 << 40:
        raise LayoutError(f"offsets: the layout has {total} elements, more than 2**40; layout = {layout}")
    low, high = bounds(layout)
    if dtype is None:
        kind = np.dtype(np.int32 if low >= -(2**31) and high < 2**31 else np.int64)
    else:
        kind = _integer_type(dtype)
        limits = np.iinfo(kind)
        if low < limits.min or high > limits.max:
            raise LayoutError(f"offsets: {kind} cannot represent the offsets from {low} to {high}; layout = {layout}")
    return _array(layout, kind)


def _integer_type(dtype: Any) -> np.dtype[Any]:
    import numpy as np

    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError):
        kind = np.dtype(object)
    if kind.kind not in "iu":
        raise LayoutError(f"offsets: dtype {safe_text(dtype)} is not an integer type")
    return kind


def bounds(layout: AnyLayout) -> tuple[int, int]:
    """Return the lower and upper end of an interval that contains every offset of a layout.

    It also contains every intermediate value of the computation.

    Raises:
        LayoutError: if the interval exceeds 64 bits.
    """
    if isinstance(layout, Layout):
        low = high = 0
        for s, d in integer_leaves(layout):
            low += min(0, (s - 1) * d)
            high += max(0, (s - 1) * d)
    else:
        low, high = bounds(layout.inner)
        shift = need_int(layout.offset, "offsets: an offset")
        inside = min(0, low, low + shift), max(0, high, high + shift)
        outside = _image_bounds(layout.outer, low + shift, high + shift)
        low, high = min(inside[0], outside[0]), max(inside[1], outside[1])
    if low < -LIMIT or high > LIMIT:
        raise LayoutError(
            f"offsets: offsets or intermediate values may reach {max(-low, high)}, which does not fit in a signed "
            f"64-bit integer; layout = {layout}"
        )
    return low, high


def _image_bounds(function: Swizzle | AnyLayout, low: int, high: int) -> tuple[int, int]:
    """Return an interval that contains the image of an interval under a swizzle or an extended layout.

    It also contains every intermediate value of the computation.
    """
    if isinstance(function, Swizzle):
        changing = (1 << function.target_mask.bit_length()) - 1  # the highest bit that changes, and all bits below it
        return (low & ~changing), (high | changing)
    if isinstance(function, ComposedLayout):
        first = _image_bounds(function.inner, low, high)
        shift = need_int(function.offset, "offsets: an offset")
        last = _image_bounds(function.outer, first[0] + shift, first[1] + shift)
        return min(first[0], shift, last[0]), max(first[1], shift, last[1])
    leaves = integer_leaves(function)
    reach = sum(abs(d) * (s - 1) for s, d in leaves[:-1])
    turns = max(abs(low), abs(high)) // max(1, product(tuple(s for s, _ in leaves[:-1])))
    reach += abs(leaves[-1][1]) * turns if leaves else 0
    return min(low, -reach), max(-low, high, reach)  # the computation first takes the absolute value


def integer_leaves(layout: Layout) -> list[tuple[int, int]]:
    """Return the flat extents and strides of a layout as integers.

    Raises:
        LayoutError: if the layout has basis strides or symbols.
    """
    need_integer_strides(layout, "offsets")
    subject = "offsets: an extent or stride"
    pairs = zip(flatten_tuple(layout.shape), flatten_tuple(layout.stride), strict=True)
    return [(need_int(s, subject), need_int(d, subject)) for s, d in pairs]


def _array(layout: AnyLayout, dtype: np.dtype[Any]) -> NDArray[Any]:
    if isinstance(layout, ComposedLayout):
        values = _array(layout.inner, dtype)
        if layout.offset:
            values += dtype.type(layout.offset)
        return _image_array(layout.outer, values)
    import numpy as np

    modes = list(layout) if type(layout.shape) is tuple else [layout]
    axes = [_axis_array(mode, dtype) for mode in modes]
    # Outer sums of one-dimensional axes, beginning with the last two modes: numpy then writes its memory in order, and
    # needs only the result and one array for the modes after the first.
    if not axes:
        return np.zeros((), dtype=dtype)
    result = axes[0] if len(axes) == 1 else np.add.outer(axes[-2], axes[-1])
    for axis in reversed(axes[:-2]):
        result = np.add.outer(axis, result)
    return result


def _axis_array(mode: Layout, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the offsets of one mode, in the order of its index."""
    import numpy as np

    axis = np.zeros(1, dtype=dtype)
    for s, d in integer_leaves(mode):
        # The first leaf is the fastest, so each further leaf repeats the offsets so far, shifted by its steps.
        steps = np.arange(s, dtype=dtype) * dtype.type(d if s > 1 else 0)
        axis = np.add.outer(steps, axis).reshape(-1)
    return axis


def _image_array(function: Swizzle | AnyLayout, values: NDArray[Any]) -> NDArray[Any]:
    """Apply a swizzle or an extended layout to an array of offsets, which may be overwritten."""
    if isinstance(function, Swizzle):
        return _swizzled_array(function, values)
    if isinstance(function, ComposedLayout):
        inner = _image_array(function.inner, values)
        inner += inner.dtype.type(function.offset)
        return _image_array(function.outer, inner)
    import numpy as np

    leaves = integer_leaves(function)
    kind, largest = values.dtype.type, np.iinfo(values.dtype).max
    rest = np.abs(values)
    result = np.zeros_like(values)
    for s, d in leaves[:-1]:
        # If the extent exceeds the largest number of the type, the quotient is 0. The stride may exceed it too if all
        # digits are 0.
        rest, digit = np.divmod(rest, kind(s)) if s <= largest else (np.zeros_like(rest), rest)
        if digit.any():
            result += digit * kind(d)
    if leaves and rest.any():
        result += rest * kind(leaves[-1][1])
    return np.where(values < 0, -result, result)


def _swizzled_array(function: Swizzle, values: NDArray[Any]) -> NDArray[Any]:
    """Apply a swizzle to an array of offsets, in place."""
    kind, width = values.dtype.type, values.dtype.itemsize * 8
    if not function.bits or (values.dtype.kind == "u" and function.shift >= width):
        return values
    if function.shift >= 0:
        # Shifted first and masked then: a right shift copies the sign bit, which stands for the bits above the type.
        targets = values >> kind(min(function.shift, width - 1))
        targets &= kind(function.target_mask)
    else:
        targets = values & kind(function.source_mask)
        targets <<= kind(-function.shift)
    values ^= targets
    return values


#: The most elements of an offset table.
_MOST = 1 << 24


def offset_table(layout: AnyLayout) -> Any:
    """Return the offset of every coordinate of a layout, with one level of lists for each top-level mode.

    Args:
        layout: a layout, plain or composed, with integer strides.

    Returns:
        ``table[c0][c1]...``, integers in the unit of the layout's offsets. For a layout of one leaf it is a list, and
        for a layout without modes an integer.

    Raises:
        LayoutError: for basis strides and symbols, for offsets beyond 64 bits, or for more than 2**24 elements.

    >>> from layoutalg import Layout
    >>> offset_table(Layout((2, (2, 2)), (4, (1, 8))))
    [[0, 1, 8, 9], [4, 5, 12, 13]]
    """
    need_layout(layout, "offset_table")
    total = need_int(product(layout.shape), "offset_table: the size")
    if total > _MOST:
        raise LayoutError(f"offset_table: the layout has {total} elements, more than 2**24; layout = {layout}")
    bounds(layout)  # raises for the same layouts as offsets()
    return _lists(layout)


def _lists(layout: AnyLayout) -> Any:
    if isinstance(layout, ComposedLayout):
        shift = need_int(layout.offset, "offset_table: an offset")
        return _image_lists(layout.outer, shift, _lists(layout.inner))
    modes = list(layout) if type(layout.shape) is tuple else [layout]
    return _sum_lists([_axis_list(mode) for mode in modes], 0)


def _axis_list(mode: Layout) -> list[int]:
    """Return the offsets of one mode, in the order of its index, in which the first leaf is the fastest."""
    axis = [0]
    for s, d in integer_leaves(mode):
        axis = [step * d + offset for step in range(s) for offset in axis]
    return axis


def _sum_lists(axes: list[list[int]], start: int) -> Any:
    if not axes:
        return start
    if len(axes) == 1:
        return [start + offset for offset in axes[0]]
    return [_sum_lists(axes[1:], start + offset) for offset in axes[0]]


def _image_lists(function: Swizzle | AnyLayout, shift: int, table: Any) -> Any:
    """Apply a swizzle or an extended layout to every number of a table, after adding ``shift`` to it."""
    if not isinstance(table, list):
        return apply(function, table + shift)
    if table and isinstance(table[0], list):
        return [_image_lists(function, shift, row) for row in table]
    offsets_in = [offset + shift for offset in table]
    if not isinstance(function, Swizzle):
        return [apply(function, offset) for offset in offsets_in]
    if not function.bits:
        return offsets_in
    mask, distance = function.source_mask, function.shift
    if distance >= 0:
        return [offset ^ ((offset & mask) >> distance) for offset in offsets_in]
    return [offset ^ ((offset & mask) << -distance) for offset in offsets_in]


def from_offsets(offsets: Sequence[int]) -> Layout | None:
    """Return the layout with these offsets in this order, or None if there is none.

    The first offset of a layout is 0.

    Invariant: ``from_offsets(list(map(layout, range(size(layout)))))`` is the coalesced layout.

    Raises:
        LayoutError: if the operand is not a sequence of integers.

    >>> print(from_offsets([0, 1, 8, 9, 4, 5, 12, 13]), from_offsets([0, 1, 3]))
    (2,2,2):(1,8,4) None
    """
    if not isinstance(offsets, Sequence) or isinstance(offsets, (str, bytes)):
        raise LayoutError(f"from_offsets: {safe_text(offsets)} is not a sequence of offsets")
    shape, stride = list[int](), list[int]()
    offsets_left = [as_int(offset, "from_offsets: an offset") for offset in offsets]
    if offsets_left[:1] != [0]:
        return None
    while len(offsets_left) > 1:
        step, run = offsets_left[1], 2
        while run < len(offsets_left) and offsets_left[run] == run * step:
            run += 1
        heads = offsets_left[::run]
        if len(offsets_left) % run or offsets_left != [head + i * step for head in heads for i in range(run)]:
            return None
        shape.append(run)
        stride.append(step)
        offsets_left = heads
    return Layout(tuple(shape), tuple(stride)) if len(shape) > 1 else Layout(*shape or (1,), *stride or (0,))
