"""What the shape and the stride of a layout must be: positive extents, congruent strides, numbers of 64 bits.

Law: what is valid is left as it is; what can be made valid, a NumPy integer or a missing stride, is made so; the rest
is refused in words.

>>> is_valid((4, (2, 4)), (2, (1, 8))), is_valid((4, 2), (1, (2, 4)))
(True, False)
>>> normalized((4, (2, 4)), None)
((4, (2, 4)), (1, (4, 8)))
"""

from __future__ import annotations

from typing import Any

from layoutalg.errors import LayoutError
from layoutalg.tuples.basis import ScaledBasis
from layoutalg.tuples.int_tuple import check_depth, compact_strides, congruent, product, safe_text
from layoutalg.tuples.leaf import LIMIT, as_leaf
from layoutalg.tuples.types import Shape, Stride


def is_valid(shape: Any, stride: Any) -> bool:
    """Whether shape and stride are congruent, eight levels deep at most, and hold plain integers that surely fit."""
    if type(shape) is not tuple:
        return type(shape) is int and type(stride) is int and 0 < shape <= LIMIT and -LIMIT <= stride <= LIMIT
    if type(stride) is not tuple or len(shape) != len(stride):
        return False
    total, bits = _measured(shape, stride, 8)
    return total <= LIMIT and 0 <= bits <= LIMIT


def _measured(shape: tuple[Any, ...], stride: tuple[Any, ...], levels: int) -> tuple[int, int]:
    """The size of a shape, and the bits of all its strides together; bits of -1 if the two are not plain and congruent.

    The bits of numbers none of which is negative make a number that is not less than any of them, and one operation
    looks at a stride; with a negative one among them it is negative.
    """
    total, bits = 1, 0
    for s, d in zip(shape, stride):  # noqa: B905  # the lengths are equal, and saying it again costs a tenth
        if type(s) is int and type(d) is int:
            if s < 1:
                return 0, -1
            total *= s
            bits |= d
        elif type(s) is tuple and type(d) is tuple and len(s) == len(d) and levels:
            below, reach = _measured(s, d, levels - 1)
            total *= below
            bits |= reach
        else:
            return 0, -1
    return total, bits


def valid_shape(shape: Shape) -> Shape:
    """The shape with every extent checked and turned into a plain integer.

    Raises:
        LayoutError: if an extent is not positive, or the size does not fit 64 bits.

    >>> valid_shape((4, (2, 1)))
    (4, (2, 1))
    """
    if is_valid(shape, shape):
        return shape
    check_depth(shape, "Layout: shape")
    shape = _checked_shape(shape)
    total = product(shape)
    if type(total) is int and total > LIMIT:
        raise LayoutError(f"Layout: the size must fit 64 bits, found shape {safe_text(shape)}")
    return shape


def normalized(shape: Shape, stride: Stride | None) -> tuple[Shape, Stride]:
    """Shape and stride with every leaf checked and turned into a plain integer, the default stride filled in."""
    shape = valid_shape(shape)
    if stride is None:
        return shape, compact_strides(shape)
    check_depth(stride, "Layout: stride")
    if not congruent(shape, stride):
        raise LayoutError(
            f"Layout: shape and stride must be congruent, found {safe_text(shape)} and {safe_text(stride)}"
        )
    return shape, _checked_stride(stride)


def _checked_shape(shape: Shape) -> Shape:
    if type(shape) is tuple:
        return tuple(map(_checked_shape, shape))
    extent = as_leaf(shape, "Layout: an extent")
    if extent < 1:
        raise LayoutError(f"Layout: an extent must be positive, found {extent}")
    return extent


def _checked_stride(stride: Stride) -> Stride:
    if type(stride) is tuple:
        return tuple(map(_checked_stride, stride))
    if isinstance(stride, ScaledBasis):
        return stride
    return as_leaf(stride, "Layout: a stride")
