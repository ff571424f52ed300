"""The class ``Layout``, a function from coordinates to offsets that is given by a shape and strides.

A :class:`Layout` maps a coordinate to the inner product of the coordinate and the strides. It maps a coordinate with
``None`` to the layout of the modes that have ``None``. It is frozen, hashable and equal by content;
``eval(repr(x)) == x``, and ``str(x)`` is the notation that the CuTe DSL prints. A shape with positive extents and a
congruent stride, all of 64 bits, are stored as they are. A NumPy integer is converted, and a missing stride is filled
in. Everything else raises a :class:`LayoutError`.
Source: CUTLASS ``include/cute/layout.hpp``.

>>> layout = Layout((4, (2, 4)), (2, (1, 8)))
>>> all(layout(i, (j, k)) == 2 * i + j + 8 * k for i in range(4) for j in range(2) for k in range(4))
True
>>> print(layout, eval(repr(layout)) == layout)
(4,(2,4)):(2,(1,8)) True
>>> is_valid((4, 2), (1, (2, 4))), normalized((4, (2, 4)), None)
(False, ((4, (2, 4)), (1, (4, 8))))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

from layoutalg.errors import CoordinateError, LayoutError
from layoutalg.frozen import frozen
from layoutalg.tuples.int_tuple import (
    Coord,
    Index,
    Shape,
    Stride,
    check_depth,
    compact_strides,
    congruent,
    flatten_tuple,
    has_none,
    inner_offset,
    plain_offset,
    product,
    safe_text,
    text,
    unflatten,
    unrank,
    weakly_congruent,
)
from layoutalg.tuples.leaf import LIMIT, Polynomial, as_leaf
from layoutalg.tuples.scaled_basis import ScaledBasis, Vector


def is_valid(shape: Any, stride: Any) -> bool:
    """Check if shape and stride need no conversion: they are congruent, and their leaves are plain integers in range.

    This is a fast check, which returns False for a few valid values too: for example if the nesting has more than eight
    levels, or if a stride inside a tuple is negative.
    """
    if type(shape) is not tuple:
        return type(shape) is int and type(stride) is int and 0 < shape <= LIMIT and -LIMIT <= stride <= LIMIT
    if type(stride) is not tuple or len(shape) != len(stride):
        return False
    total, bits = _size_and_bits(shape, stride, 8)
    return total <= LIMIT and 0 <= bits <= LIMIT


def _size_and_bits(shape: tuple[Any, ...], stride: tuple[Any, ...], levels: int) -> tuple[int, int]:
    """Return the size of a shape and the bitwise or of its strides; -1 for the latter if the two are not congruent.

    If no stride is negative, the bitwise or is at least as large as each of them; if one is negative, it is negative.
    Thus one comparison checks all strides. It is also -1 if a leaf is not an ``int``, if an extent is not positive, or
    if the nesting is deeper than ``levels``.
    """
    total, bits = 1, 0
    for s, d in zip(shape, stride):  # noqa: B905  # of equal length; `strict` would cost a tenth of the time
        if type(s) is int and type(d) is int:
            if s < 1:
                return 0, -1
            total *= s
            bits |= d
        elif type(s) is tuple and type(d) is tuple and len(s) == len(d) and levels:
            below, reach = _size_and_bits(s, d, levels - 1)
            total *= below
            bits |= reach
        else:
            return 0, -1
    return total, bits


def valid_shape(shape: Shape) -> Shape:
    """Check the extents of a shape and convert them to plain integers or polynomials.

    Raises:
        LayoutError: if an extent is not a positive integer, or the size does not fit in 64 bits.

    >>> valid_shape((4, (2, 1)))
    (4, (2, 1))
    """
    if is_valid(shape, shape):
        return shape
    check_depth(shape, "Layout: shape")
    shape = _checked_shape(shape)
    total = product(shape)
    if type(total) is int and total > LIMIT:
        raise LayoutError(f"Layout: the size of shape {safe_text(shape)} does not fit in a signed 64-bit integer")
    return shape


def normalized(shape: Shape, stride: Stride | None) -> tuple[Shape, Stride]:
    """Check shape and stride, convert their leaves to plain integers or polynomials, and fill in the default stride."""
    shape = valid_shape(shape)
    if stride is None:
        return shape, compact_strides(shape)
    check_depth(stride, "Layout: stride")
    if not congruent(shape, stride):
        raise LayoutError(f"Layout: shape {safe_text(shape)} and stride {safe_text(stride)} are not congruent")
    return shape, _checked_stride(stride)


def _checked_shape(shape: Shape) -> Shape:
    if type(shape) is tuple:
        return tuple(map(_checked_shape, shape))
    extent = as_leaf(shape, "Layout: an extent")
    if extent < 1:
        raise LayoutError(f"Layout: extent {extent} is not positive")
    return extent


def _checked_stride(stride: Stride) -> Stride:
    if type(stride) is tuple:
        return tuple(map(_checked_stride, stride))
    if isinstance(stride, ScaledBasis):
        return stride
    return as_leaf(stride, "Layout: a stride")


@frozen
class Layout:
    """A shape and its strides, which define the function ``coordinate -> sum(coordinate_i * stride_i)``.

    Calling it with an index, a coordinate of the top modes, or a nested coordinate returns the offset. A coordinate
    with ``None`` returns the sub-layout of the modes that have ``None``, without its offset (see
    ``slice_and_offset``). ``layout[i]`` is mode i, and ``len(layout)`` is the number of modes.

    Args:
        shape: extents, which are positive integers nested to any profile, in elements.
        stride: congruent strides, in elements: integers of any sign, or basis strides (:func:`E`). Default: the
            strides of the compact layout, first mode fastest.

    Raises:
        LayoutError: if an extent is not positive, the two are not congruent, or a number does not fit in 64 bits.
        CoordinateError: on a call, if the coordinate is outside the shape or does not fit it.

    >>> layout = Layout((4, (2, 4)), (2, (1, 8)))
    >>> print(layout, layout(13), layout(1, 3), layout(1, (1, 1)))
    (4,(2,4)):(2,(1,8)) 11 11 11
    >>> print(layout(None, 2), layout[1])
    (4):(2) (2,4):(1,8)
    """

    shape: Shape
    stride: Stride

    def __init__(self, shape: Shape, stride: Stride | None = None) -> None:
        if not is_valid(shape, stride):  # the fast check accepts most operands; the others are checked in full
            shape, stride = normalized(shape, stride)
        _set_shape(self, shape)
        _set_stride(self, stride)

    # A layout with basis strides returns a coordinate. The types cannot express that, so it is declared as an offset.
    @overload
    def __call__(self, *coord: Index) -> int: ...  # type: ignore[overload-overlap]  # a None makes it a Coord
    @overload
    def __call__(self, *coord: Coord) -> Layout: ...
    def __call__(self, *coord: Any) -> Any:
        """Return the offset of a coordinate, or the sub-layout of the modes where it has ``None``."""
        coordinate = coord[0] if len(coord) == 1 else coord
        if type(coordinate) is tuple:
            offset = plain_offset(coordinate, self.shape, self.stride)
            if offset is not None:
                return offset
        try:
            keeps_modes = type(coordinate) is not int and has_none(coordinate)
        except RecursionError:
            keeps_modes = True  # nested too deeply, which the slice reports
        if keeps_modes:
            return sliced(coordinate, self)[0]
        if _has_basis(self.stride):
            return _image_coordinate(self, coordinate)
        return inner_offset(coordinate, self.shape, self.stride)

    def __getitem__(self, mode: int) -> Layout:
        if type(self.shape) is not tuple:
            return (self,)[mode]
        stride: Any = self.stride  # congruent to the shape
        return trusted(self.shape[mode], stride[mode])

    def __len__(self) -> int:
        return len(self.shape) if type(self.shape) is tuple else 1

    def __iter__(self) -> Iterator[Layout]:
        return map(self.__getitem__, range(len(self)))

    def __str__(self) -> str:
        plain = "%r:%r" % (self.shape, self.stride)  # noqa: UP031  a tenth faster than an f-string
        if plain == plain.upper():  # the repr of every leaf that is not an int has lower-case letters
            return plain.replace(" ", "").replace(",)", ")")
        return f"{text(self.shape)}:{text(self.stride)}"

    def _repr_html_(self) -> str:
        from layoutalg.drawing.html_table import table

        return table(self)


# A frozen class has no setter. Two calls of object.__setattr__ would take longer than the rest of the constructor.
_set_shape = Layout.__dict__["shape"].__set__
_set_stride = Layout.__dict__["stride"].__set__


def trusted(shape: Shape, stride: Stride) -> Layout:
    """Return a layout of a shape and a stride that are known to be valid, without checking them."""
    layout = object.__new__(Layout)
    _set_shape(layout, shape)
    _set_stride(layout, stride)
    return layout


def sliced(coord: Coord, layout: Layout) -> tuple[Layout, int]:
    """Slice a plain layout, as :func:`~layoutalg.algebra.slicing.slice_and_offset` does.

    Raises:
        CoordinateError: if the coordinate does not fit the shape or is outside it.
    """
    need_fit(coord, layout)
    return slice_plain(coord, layout)


def sliced_flat(coord: tuple[Any, ...], src: Layout) -> tuple[Layout, int] | None:
    """Slice by a coordinate with an index or ``None`` for each mode, as :func:`sliced` does, by a faster way.

    Returns:
        None if the operands need :func:`sliced`: symbols, basis strides, deeper nesting, an index out of range, or no
        mode that is kept.
    """
    shape, stride = src.shape, src.stride
    if type(shape) is not tuple or type(stride) is not tuple or len(shape) != len(coord):
        return None
    extents: list[Any] = []
    steps: list[Any] = []
    offset = 0
    for c, s, d in zip(coord, shape, stride):  # noqa: B905  # the lengths are equal
        if c is None:
            extents.append(s)
            steps.append(d)
        elif type(c) is not int or c < 0:
            return None
        elif type(d) is int:
            if type(s) is not int or c >= s:
                return None
            offset += c * d
        elif type(d) is tuple and not _has_basis(d) and c < product(s):
            offset += inner_offset(c, s, d)
        else:
            return None
    return (trusted(tuple(extents), tuple(steps)), offset) if extents else None


def need_fit(coord: Coord, layout: Any) -> None:
    """Check that a coordinate with ``None`` fits a layout.

    Raises:
        CoordinateError: if it is not weakly congruent to the shape.
        LayoutError: if it is nested too deeply.
    """
    check_depth(coord, "slice_and_offset: the coordinate")
    if not weakly_congruent(coord, layout.shape):
        raise CoordinateError(
            f"slice: coordinate {safe_text(coord)} is not weakly congruent to the shape; layout = {layout}"
        )


def slice_plain(coord: Coord, src: Layout) -> tuple[Layout, int]:
    """Slice a plain layout by a coordinate that fits it; see :func:`sliced`."""
    offset = src(_with_zeros(coord))
    if coord is None:
        return src, offset
    shape, stride = kept_modes(coord, src.shape, src), kept_modes(coord, src.stride, src)
    return trusted(shape if type(shape) is tuple else (shape,), stride if type(stride) is tuple else (stride,)), offset


def _with_zeros(coord: Coord) -> Any:
    """Replace every ``None`` of a coordinate by 0."""
    if type(coord) is tuple:
        return tuple(map(_with_zeros, coord))
    return 0 if coord is None else coord


def kept_modes(coord: Coord, value: Any, src: object) -> Any:
    """Return the modes of a tuple where the coordinate has ``None``, as one flat list of whole modes.

    Raises:
        CoordinateError: if the coordinate does not fit; ``src`` is the operand for the message.
    """
    if type(coord) is not tuple:
        return value if coord is None else ()
    if type(value) is not tuple or len(value) != len(coord):
        raise CoordinateError(f"slice: coordinate {text(coord)} does not fit the shape; operand = {safe_text(src)}")
    modes: list[Any] = []
    for c, v in zip(coord, value, strict=True):
        if c is None:
            modes.append(v)
        elif type(c) is tuple:
            modes.extend(kept_modes(c, v, src))
    return tuple(modes)


def has_basis(layout: Layout) -> bool:
    """Check if a layout has basis strides, so that it maps to coordinates."""
    return _has_basis(layout.stride)


def need_integer_strides(layout: Layout, operation: str) -> Layout:
    """Return the layout itself, for an operation that is not defined for basis strides.

    Raises:
        LayoutError: if the layout has basis strides.
    """
    if _has_basis(layout.stride):
        raise LayoutError(f"{operation}: the layout has basis strides, not integer strides; layout = {layout}")
    return layout


def _has_basis(stride: Stride) -> bool:
    if type(stride) is tuple:
        for item in stride:
            if type(item) is not int and _has_basis(item):
                return True
        return False
    return isinstance(stride, ScaledBasis)


def _image_coordinate(layout: Layout, coord: Any) -> Any:
    """Return the coordinate to which a layout with basis strides maps ``coord``."""
    strides = flatten_tuple(layout.stride)
    vectors = unflatten(map(Vector.of, strides), layout.stride)
    if type(coord) is int and type(layout.shape) is tuple and 0 <= coord < product(layout.shape):
        coord = unrank(coord, layout.shape)
    result = inner_offset(coord, layout.shape, vectors)
    paths = [stride.mode for stride in strides if isinstance(stride, ScaledBasis)]
    return (result if isinstance(result, Vector) else Vector()).as_coordinate(paths)


def need_readable(layout: Layout, operation: str) -> Layout:
    """Check that the result of an operation is in the range of ``Layout``, and return it.

    Raises:
        LayoutError: if a stride or the size does not fit in 64 bits, or the nesting is deeper than 64 levels.

    >>> need_readable(trusted(2, 2**64), "upcast")
    Traceback (most recent call last):
    layoutalg.errors.LayoutError: upcast: a stride of the result is a number of 65 bits, beyond the limit of 2**63 - 1
    """
    if is_valid(layout.shape, layout.stride):  # true for most results
        return layout
    check_depth(layout.shape, f"{operation}: the shape of the result")
    total = product(layout.shape)
    if type(total) is int:
        as_leaf(total, f"{operation}: the size of the result")
    for stride in flatten_tuple(layout.stride):
        if type(stride) is not Polynomial:
            as_leaf(stride.value if isinstance(stride, ScaledBasis) else stride, f"{operation}: a stride of the result")
    return layout
