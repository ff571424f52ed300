"""Layout: a function from coordinates to offsets, as a value.

A :class:`Layout` is a shape and a congruent stride; it maps a coordinate to the inner product with the strides, and a
coordinate with ``None`` to the layout of the modes that it keeps. It is frozen, hashable and equal by content;
``eval(repr(x)) == x``, and ``str(x)`` is the notation that the CuTe DSL prints. What is valid, positive extents and
congruent strides of 64 bits, is left as it is; what can be made valid, a NumPy integer or a missing stride, is made so;
the rest is refused in words.
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
    """Whether shape and stride are congruent, eight levels deep at most, and hold plain integers that surely fit."""
    if type(shape) is not tuple:
        return type(shape) is int and type(stride) is int and 0 < shape <= LIMIT and -LIMIT <= stride <= LIMIT
    if type(stride) is not tuple or len(shape) != len(stride):
        return False
    total, bits = _size_and_bits(shape, stride, 8)
    return total <= LIMIT and 0 <= bits <= LIMIT


def _size_and_bits(shape: tuple[Any, ...], stride: tuple[Any, ...], levels: int) -> tuple[int, int]:
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
            below, reach = _size_and_bits(s, d, levels - 1)
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


@frozen
class Layout:
    """A shape and its strides: the function ``coordinate -> sum(coordinate_i * stride_i)``.

    Calling it with an index, a coordinate of the top modes, or a nested coordinate gives the offset; a coordinate
    with ``None`` keeps those modes and gives the sub-layout (without its offset: see ``slice_and_offset``).
    ``layout[i]`` is mode i, ``len(layout)`` the number of modes.

    Args:
        shape: extents, positive integers nested to any profile, in elements.
        stride: congruent strides, in elements: integers of any sign, or basis strides (:func:`E`). Default: the
            compact layout, first mode fastest.

    Raises:
        LayoutError: if an extent is not positive, the two are not congruent, or a number does not fit 64 bits.
        CoordinateError: on a call, if the coordinate lies outside the shape.

    >>> layout = Layout((4, (2, 4)), (2, (1, 8)))
    >>> print(layout, layout(13), layout(1, 3), layout(1, (1, 1)))
    (4,(2,4)):(2,(1,8)) 11 11 11
    >>> print(layout(None, 2), layout[1])
    (4):(2) (2,4):(1,8)
    """

    shape: Shape
    stride: Stride

    def __init__(self, shape: Shape, stride: Stride | None = None) -> None:
        if not is_valid(shape, stride):  # the common case needs one pass; whatever fails it is looked at closely
            shape, stride = normalized(shape, stride)
        _set_shape(self, shape)
        _set_stride(self, stride)

    # A layout with basis strides gives a coordinate, which no type tells apart: it is typed as an offset here.
    @overload
    def __call__(self, *coord: Index) -> int: ...  # type: ignore[overload-overlap]  # a None makes it a Coord
    @overload
    def __call__(self, *coord: Coord) -> Layout: ...
    def __call__(self, *coord: Any) -> Any:
        """The offset of a coordinate, or the sub-layout of the modes where it has ``None``."""
        where = coord[0] if len(coord) == 1 else coord
        if type(where) is tuple:
            offset = plain_offset(where, self.shape, self.stride)
            if offset is not None:
                return offset
        try:
            keeps = type(where) is not int and has_none(where)
        except RecursionError:
            keeps = True  # too deep for either reading, which the slice says in words
        if keeps:
            return sliced(where, self)[0]
        if _has_basis(self.stride):
            return _image_coordinate(self, where)
        return inner_offset(where, self.shape, self.stride)

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
        written = "%r:%r" % (self.shape, self.stride)  # noqa: UP031  a tenth faster than an f-string
        if written == written.upper():  # all else than numbers has small letters
            return written.replace(" ", "").replace(",)", ")")
        return f"{text(self.shape)}:{text(self.stride)}"

    def _repr_html_(self) -> str:
        from layoutalg.drawing.html_table import table

        return table(self)


# The slots themselves, as a frozen class has no setter: calling object.__setattr__ twice costs more than all the rest.
_set_shape = Layout.__dict__["shape"].__set__
_set_stride = Layout.__dict__["stride"].__set__


def trusted(shape: Shape, stride: Stride) -> Layout:
    """A layout of parts that are known to be valid, without checking them again (the results of the algebra)."""
    layout = object.__new__(Layout)
    _set_shape(layout, shape)
    _set_stride(layout, stride)
    return layout


def sliced(coord: Coord, layout: Layout) -> tuple[Layout, int]:
    """:func:`~layoutalg.algebra.slicing.slice_and_offset` of a plain layout."""
    need_fit(coord, layout)
    return slice_plain(coord, layout)


def sliced_flat(coord: tuple[Any, ...], src: Layout) -> tuple[Layout, int] | None:
    """:func:`sliced` by a number or ``None`` for each mode, numbers inside; None where the general way must look."""
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
    """Refuse a coordinate with None that does not fit a layout.

    Raises:
        CoordinateError: if it is not weakly congruent to the shape.
    """
    check_depth(coord, "slice_and_offset: coordinate")
    if not weakly_congruent(coord, layout.shape):
        raise CoordinateError(
            f"slice: the coordinate must be weakly congruent to the shape, found {safe_text(coord)}; layout = {layout}"
        )


def slice_plain(coord: Coord, src: Layout) -> tuple[Layout, int]:
    """:func:`slice_and_offset` of a plain layout and a coordinate that fits it."""
    offset = src(_with_zeros(coord))
    if coord is None:
        return src, offset
    shape, stride = kept_modes(coord, src.shape, src), kept_modes(coord, src.stride, src)
    return trusted(shape if type(shape) is tuple else (shape,), stride if type(stride) is tuple else (stride,)), offset


def _with_zeros(coord: Coord) -> Any:
    """The coordinate with 0 in place of every ``None``."""
    if type(coord) is tuple:
        return tuple(map(_with_zeros, coord))
    return 0 if coord is None else coord


def kept_modes(coord: Coord, value: Any, src: object) -> Any:
    """The parts of a value where the coordinate has ``None``: whole modes as they are, the rest flattened away."""
    if type(coord) is not tuple:
        return value if coord is None else ()
    if type(value) is not tuple or len(value) != len(coord):
        raise CoordinateError(
            f"slice: the coordinate must fit the shape, found {text(coord)}; operand = {safe_text(src)}"
        )
    modes: list[Any] = []
    for c, v in zip(coord, value, strict=True):
        if c is None:
            modes.append(v)
        elif type(c) is tuple:
            modes.extend(kept_modes(c, v, src))
    return tuple(modes)


def has_basis(layout: Layout) -> bool:
    """Whether a layout has basis strides, so that it maps to coordinates."""
    return _has_basis(layout.stride)


def need_integer_strides(layout: Layout, operation: str) -> Layout:
    """The layout itself, unless it has basis strides, which the operation has no meaning for: then a LayoutError."""
    if _has_basis(layout.stride):
        raise LayoutError(f"{operation}: strides must be integers; layout = {layout}")
    return layout


def _has_basis(stride: Stride) -> bool:
    if type(stride) is tuple:
        for item in stride:
            if type(item) is not int and _has_basis(item):
                return True
        return False
    return isinstance(stride, ScaledBasis)


def _image_coordinate(layout: Layout, where: Any) -> Any:
    """The coordinate that a layout with basis strides maps ``where`` to."""
    strides = flatten_tuple(layout.stride)
    vectors = unflatten(map(Vector.of, strides), layout.stride)
    if type(where) is int and type(layout.shape) is tuple and 0 <= where < product(layout.shape):
        where = unrank(where, layout.shape)
    result = inner_offset(where, layout.shape, vectors)
    paths = [stride.mode for stride in strides if isinstance(stride, ScaledBasis)]
    return (result if isinstance(result, Vector) else Vector()).as_coordinate(paths)


def need_readable(layout: Layout, operation: str) -> Layout:
    """The layout itself, if it can be written and read again: numbers of 64 bits, a size of 64 bits, 64 levels.

    Raises:
        LayoutError: if not, naming the operation that it is the result of.

    >>> need_readable(trusted(2, 2**64), "composition")
    Traceback (most recent call last):
    layoutalg.errors.LayoutError: composition: a stride of the result must fit 64 bits, found a number of 65 bits
    """
    if is_valid(layout.shape, layout.stride):  # nearly always; the checks below say what is wrong
        return layout
    check_depth(layout.shape, f"{operation}: result")
    total = product(layout.shape)
    if type(total) is int:
        as_leaf(total, f"{operation}: the size of the result")
    for stride in flatten_tuple(layout.stride):
        if type(stride) is not Polynomial:
            as_leaf(stride.value if isinstance(stride, ScaledBasis) else stride, f"{operation}: a stride of the result")
    return layout
