"""Access to numpy arrays through layouts: ``strided_view``, ``gather`` and ``scatter``.

Invariant: ``gather(array, L)[c] == array[L(c)]``. ``gather`` after ``scatter`` through an injective layout returns the
values. ``strided_view`` has the same elements as ``gather``, without a copy.

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
    """Return a view of a one-dimensional numpy array through a layout, with one axis for each leaf of the layout.

    Args:
        array: the memory, one-dimensional, of any dtype.
        layout: a plain layout, in elements.
        offset: index of the element at coordinate 0.

    Raises:
        LayoutError: if the layout is composed, or has an offset outside the array.

    >>> import numpy as np
    >>> from layoutalg import Layout
    >>> strided_view(np.arange(12), Layout((3, 4), (4, 1)))[1].tolist()
    [4, 5, 6, 7]
    """
    import numpy as np

    if not isinstance(layout, Layout):
        raise LayoutError(
            f"strided_view: {safe_text(layout)} is not a plain layout; a view needs strides, which a swizzled layout "
            f"does not have"
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
    """Return the elements that a layout addresses, in its top-level shape: ``result[c] == array[layout(c)]``.

    Args:
        array: the memory, one-dimensional.
        layout: a layout, plain or composed, in elements.

    Raises:
        LayoutError: if the layout has an offset outside the array.

    >>> import numpy as np
    >>> from layoutalg import Layout
    >>> gather(np.arange(10, 18), Layout((2, 4), (4, 1))).tolist()
    [[10, 11, 12, 13], [14, 15, 16, 17]]
    """
    _check_memory(array, layout, 0, "gather")
    return array[offsets(layout)]  # type: ignore[no-any-return]


def scatter(array: NDArray[Any], layout: AnyLayout, values: NDArray[Any]) -> None:
    """Write values to the elements that a layout addresses: ``array[layout(c)] = values[c]``.

    Args:
        array: the memory, one-dimensional; changed in place.
        layout: a layout, plain or composed, in elements.
        values: an array of the top-level shape of the layout, or one that numpy broadcasts to it.

    Raises:
        LayoutError: if the layout has an offset outside the array, or the values do not fit its shape or the array.

    >>> import numpy as np
    >>> from layoutalg import Layout
    >>> memory = np.zeros(6, dtype=int)
    >>> scatter(memory, Layout((2, 3)), np.array([[1, 2, 3], [4, 5, 6]]))
    >>> memory.tolist()
    [1, 4, 2, 5, 3, 6]
    """
    _check_memory(array, layout, 0, "scatter")
    indices = offsets(layout)
    try:
        array[indices] = values
    except (ValueError, TypeError, OverflowError) as error:
        raise LayoutError(
            f"scatter: the values cannot be written to the shape {safe_text(indices.shape)} ({error})"
        ) from None


def _check_memory(array: Any, layout: AnyLayout, offset: int, operation: str) -> None:
    """Check that an array is one-dimensional and has an element at every offset of a layout."""
    need_layout(layout, operation)
    if getattr(array, "ndim", None) != 1:
        raise LayoutError(
            f"{operation}: the array is not one-dimensional; its ndim is {safe_text(getattr(array, 'ndim', None))}"
        )
    if isinstance(layout, Layout):
        low, high = bounds(layout)
    else:
        image = offsets(layout)
        low, high = int(image.min(initial=0)), int(image.max(initial=0))
    if low + offset < 0 or high + offset >= array.shape[0]:
        raise LayoutError(
            f"{operation}: the offsets {low + offset} to {high + offset} are not in [0,{array.shape[0]}), the range of "
            f"the array; layout = {layout}"
        )
