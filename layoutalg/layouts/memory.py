"""A numpy array through a layout: views, and tiles moved in and out.

Laws: ``gather(array, L)[c] == array[L(c)]``; ``gather`` after ``scatter`` through an injective layout gives the values
back; ``strided_view`` is ``gather`` without the copy.

>>> import numpy as np
>>> from layoutalg import Layout
>>> array, layout = np.arange(24), Layout((4, 3), (5, 1))
>>> all(gather(array, layout)[i, j] == array[layout(i, j)] for i in range(4) for j in range(3))
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layoutalg.errors import LayoutError
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, need_layout
from layoutalg.layouts.offsets import bounds, integer_leaves, offsets
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int

if TYPE_CHECKING:
    from numpy.typing import NDArray


def strided_view(array: NDArray[Any], layout: Layout, offset: int = 0) -> NDArray[Any]:
    """A numpy view of a one-dimensional array through a layout: no copy, one axis for each leaf of the layout.

    Args:
        array: the memory, one-dimensional, of any dtype.
        layout: a plain layout, in elements.
        offset: the element that coordinate 0 is at.

    Raises:
        LayoutError: if the layout is composed, or reaches outside the array.

    >>> import numpy as np
    >>> from layoutalg import Layout
    >>> strided_view(np.arange(12), Layout((3, 4), (4, 1)))[1].tolist()
    [4, 5, 6, 7]
    """
    import numpy as np

    if not isinstance(layout, Layout):
        raise LayoutError(
            f"strided_view: the layout must be plain, since a swizzle has no strides, found {safe_text(layout)}"
        )
    offset = as_int(offset, "strided_view: offset")
    _check_memory(array, layout, offset, "strided_view")
    leaves = integer_leaves(layout)
    step = array.strides[0]
    return np.lib.stride_tricks.as_strided(
        array[offset:],
        shape=[s for s, _ in leaves],
        strides=[d * step for _, d in leaves],
        writeable=array.flags.writeable,
    )


def gather(array: NDArray[Any], layout: AnyLayout) -> NDArray[Any]:
    """The elements that a layout addresses, in the layout's top-level shape: ``result[c] == array[layout(c)]``.

    Args:
        array: the memory, one-dimensional.
        layout: a layout, plain or composed, in elements.

    Raises:
        LayoutError: if the layout reaches outside the array.

    >>> import numpy as np
    >>> from layoutalg import Layout
    >>> gather(np.arange(10, 18), Layout((2, 4), (4, 1))).tolist()
    [[10, 11, 12, 13], [14, 15, 16, 17]]
    """
    _check_memory(array, layout, 0, "gather")
    return array[offsets(layout)]  # type: ignore[no-any-return]


def scatter(array: NDArray[Any], layout: AnyLayout, values: NDArray[Any]) -> None:
    """Write values to where a layout addresses: ``array[layout(c)] = values[c]``; the inverse of :func:`gather`.

    Args:
        array: the memory, one-dimensional; changed in place.
        layout: a layout, plain or composed, in elements.
        values: of the layout's top-level shape, or what numpy broadcasts to it.

    Raises:
        LayoutError: if the layout reaches outside the array, or the shapes do not fit.

    >>> import numpy as np
    >>> from layoutalg import Layout
    >>> memory = np.zeros(6, dtype=int)
    >>> scatter(memory, Layout((2, 3)), np.array([[1, 2, 3], [4, 5, 6]]))
    >>> memory.tolist()
    [1, 4, 2, 5, 3, 6]
    """
    _check_memory(array, layout, 0, "scatter")
    where = offsets(layout)
    try:
        array[where] = values
    except (ValueError, TypeError, OverflowError) as error:
        raise LayoutError(f"scatter: the values must fit the shape {safe_text(where.shape)}, found {error}") from None


def _check_memory(array: Any, layout: AnyLayout, offset: int, operation: str) -> None:
    """That an array is one-dimensional and holds every offset of a layout."""
    need_layout(layout, operation)
    if getattr(array, "ndim", None) != 1:
        raise LayoutError(
            f"{operation}: the array must be one-dimensional, found {safe_text(getattr(array, 'ndim', None))}"
        )
    if isinstance(layout, Layout):
        low, high = bounds(layout)
    else:
        image = offsets(layout)
        low, high = int(image.min(initial=0)), int(image.max(initial=0))
    if low + offset < 0 or high + offset >= array.shape[0]:
        raise LayoutError(
            f"{operation}: every offset must lie in [0,{array.shape[0]}), found {low + offset} to {high + offset}; "
            f"layout = {layout}"
        )
