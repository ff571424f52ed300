"""All offsets of a layout at once, as a numpy array of the layout's top-level shape.

Law: ``offsets(L)[c] == L(c)`` for every coordinate c of the top modes. numpy is imported when a function is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layoutalg.errors import LayoutError
from layoutalg.int_tuple import flatten_tuple, product, safe_text
from layoutalg.layout import ComposedLayout, has_basis
from layoutalg.leaf import need_int
from layoutalg.modes import AnyLayout, need_layout
from layoutalg.swizzle import Swizzle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def offsets(layout: AnyLayout) -> NDArray[np.int64]:
    """The offset of every coordinate of a layout.

    Args:
        layout: a layout, plain or composed, with integer strides.

    Returns:
        An int64 array with one axis for each top-level mode, in the unit of the layout's offsets.

    Raises:
        LayoutError: for basis strides.

    >>> from layoutalg import Layout
    >>> offsets(Layout((2, (2, 2)), (4, (1, 8)))).tolist()
    [[0, 1, 8, 9], [4, 5, 12, 13]]
    """
    need_layout(layout, "offsets")
    if isinstance(layout, ComposedLayout):
        return _applied(layout.outer, offsets(layout.inner) + layout.offset)
    if has_basis(layout):
        raise LayoutError(f"offsets: strides must be integers; layout = {layout}")
    for leaf in flatten_tuple((layout.shape, layout.stride)):
        need_int(leaf, "offsets: an extent or stride")
    import numpy as np

    result: Any = np.zeros((), dtype=np.int64)
    for mode in layout if type(layout.shape) is tuple else (layout,):
        axis: Any = np.zeros(1, dtype=np.int64)
        for s, d in zip(flatten_tuple(mode.shape), flatten_tuple(mode.stride), strict=True):
            # The first leaf runs fastest: each later one repeats what is there, further on.
            axis = np.add.outer(np.arange(s, dtype=np.int64) * d, axis).reshape(-1)
        result = np.add.outer(result, axis)
    return result  # type: ignore[no-any-return]


def _applied(function: Swizzle | AnyLayout, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Apply a swizzle or an extended layout to an array of offsets."""
    if isinstance(function, Swizzle):
        source = values & function.source_mask
        return values ^ (source >> function.shift if function.shift >= 0 else source << -function.shift)
    if isinstance(function, ComposedLayout):
        return _applied(function.outer, _applied(function.inner, values) + function.offset)
    if has_basis(function):
        raise LayoutError(f"offsets: strides must be integers; layout = {safe_text(function)}")
    import numpy as np

    shape, stride = flatten_tuple(function.shape), flatten_tuple(function.stride)
    rest = np.abs(values)
    result = np.zeros_like(values)
    for s, d in zip(shape[:-1], stride[:-1], strict=True):
        rest, digit = np.divmod(rest, s)
        result += digit * d
    if shape:
        result += rest * stride[-1]
    return np.where(values < 0, -result, result)


__all__ = ["offsets", "product"]
