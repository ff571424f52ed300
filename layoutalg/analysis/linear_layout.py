"""The class ``LinearLayout``, the layouts of Triton, and their conversion from and to CuTe layouts.

A linear layout maps named input dimensions to named output dimensions, linearly over GF(2). All sizes are powers of
two. The map is given by its *bases*: for each input dimension, the output coordinates at 1, 2, 4, ... of that
dimension, with all other inputs 0.

Invariant: ``L(x ^ y) == L(x) ^ L(y)``, coordinate by coordinate.

Dimensions have an order, the fastest first. It matters only if a side is flattened to one number
(:meth:`LinearLayout.matrix`): the first dimension has the lowest bits. The size of an output dimension is larger than
the bases need only if it is given.

>>> swizzled = LinearLayout({"offset": [(0, 1), (0, 2), (1, 1), (2, 2)]}, ["dim0", "dim1"])
>>> outputs = [tuple(swizzled(offset=x).values()) for x in range(16)]
>>> xor = lambda p, q: tuple(a ^ b for a, b in zip(p, q))
>>> all(outputs[x ^ y] == xor(outputs[x], outputs[y]) for x in range(16) for y in range(16))
True

The conversion follows Triton's conventions:

- A register layout maps ``register``, ``lane``, ``warp``, ``block`` to the coordinates ``dim0``, ``dim1``, ... of a
  tensor. CuTe calls this a thread-value layout; its modes have no names, and it maps to one index into the tile.
- A shared-memory layout maps ``offset`` (and ``block``), in elements, to these coordinates. A tile in CuTe is the
  inverse map (:meth:`LinearLayout.invert`).
- Numbers are split into dimensions, and joined, with the first dimension in the lowest bits, as CuTe orders modes.

Triton's form cannot represent extents that are not powers of two, padding, or the nesting of CuTe's modes.

Source: Triton ``include/triton/Tools/LinearLayout.h``, ``lib/Tools/LinearLayout.cpp`` and
``python/triton/experimental/gluon/language/_layouts.py``; arXiv 2505.23819. The tests compare with Triton 3.9.0
(``tests/vectors/triton.json``).

>>> from layoutalg import Layout
>>> tv = Layout(((2, 2), (2, 2)), ((2, 8), (1, 4)))  # (lane, register) -> index into a tile of 4 x 4
>>> back = from_linear_layout(to_linear_layout(tv, ["lane", "register"], {"dim0": 4, "dim1": 4}))
>>> print(back, all(back(i) == tv(i) for i in range(16)))
((2,2),(2,2)):((2,8),(1,4)) True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from layoutalg.analysis.f2_layouts import from_f2, to_f2
from layoutalg.analysis.f2_matrix import F2Matrix
from layoutalg.errors import LayoutError
from layoutalg.frozen import fix, frozen
from layoutalg.layouts.layout import Layout, has_basis, trusted
from layoutalg.layouts.modes import AnyLayout, need_layout, rank, size
from layoutalg.tuples.int_tuple import flatten_tuple, safe_text
from layoutalg.tuples.leaf import as_int, need_int
from layoutalg.tuples.scaled_basis import ScaledBasis

#: A basis: the output coordinates of one bit of an input dimension.
Basis = tuple[int, ...]


@frozen
class LinearLayout:
    """A linear map over GF(2) from named dimensions to named dimensions, given by its bases.

    ``layout(lane=3, warp=1)`` is a dict of output coordinates. ``str`` is the text that Triton prints, without the line
    break at the start.

    Args:
        bases: a mapping, or pairs, from the name of each input dimension to its bases.
        out_dims: the output dimensions with their sizes, or only their names. Without a size, the size is the smallest
            power of two above the bases, and every output must be reached, as in Triton.

    Raises:
        LayoutError: if a size is not a power of two, a basis does not fit the output dimensions, or names repeat; or if
            the sizes are not given and an output is not reached.

    >>> layout = LinearLayout({"lane": [(1, 1), (2, 2)], "warp": [(0, 1), (0, 2)]}, ["x", "y"])
    >>> layout(lane=3, warp=3)
    {'x': 3, 'y': 0}
    >>> print(layout)
     - lane=1 -> (1, 1)
       lane=2 -> (2, 2)
     - warp=1 -> (0, 1)
       warp=2 -> (0, 2)
    where out dims are: [x (size 4), y (size 4)]
    """

    bases: tuple[tuple[str, tuple[Basis, ...]], ...]
    out_dims: tuple[tuple[str, int], ...]

    def __init__(
        self,
        bases: Mapping[str, Iterable[Sequence[int]]] | Iterable[tuple[str, Iterable[Sequence[int]]]],
        out_dims: Mapping[str, int] | Iterable[tuple[str, int]] | Sequence[str],
    ) -> None:
        bases_by_name = tuple([(_check_name(name), _bases(name, rows)) for name, rows in _as_pairs(bases, "bases")])
        names = [out_dims] if isinstance(out_dims, str) else out_dims
        inferred = not isinstance(names, Mapping) and isinstance(names, Sequence) and _all_names(names)
        pairs = [(name, _least_size(bases_by_name, i)) for i, name in enumerate(names)] if inferred else names
        sizes = tuple([(_check_name(name), _check_size(extent, name)) for name, extent in _as_pairs(pairs, "out_dims")])
        _check_differ([name for name, _ in bases_by_name])
        _check_differ([name for name, _ in sizes])
        for name, rows in bases_by_name:
            for row in rows:
                _check_fits(name, row, sizes)
        fix(self, bases=bases_by_name, out_dims=sizes)
        if inferred and not self.is_surjective():
            raise LayoutError(
                f"LinearLayout: the bases do not reach every output: their rank is {self.matrix().rank()}, but the "
                f"outputs have {self.matrix().rows} bits; give out_dims with sizes, e.g. {dict(sizes)}"
            )

    def __call__(self, **coordinates: int) -> dict[str, int]:
        """Return the output coordinates at input coordinates, by name; an input that is not given is 0.

        Raises:
            LayoutError: if an input has another name or is out of range.
        """
        result = [0] * len(self.out_dims)
        extents = self.in_dims()
        for name, value in coordinates.items():
            if name not in extents or not 0 <= as_int(value, "LinearLayout: a coordinate") < extents[name]:
                raise LayoutError(f"LinearLayout: {name} = {value} is not within the input dimensions {extents}")
        for name, rows in self.bases:
            for bit, row in enumerate(rows):
                if coordinates.get(name, 0) >> bit & 1:
                    result = [a ^ b for a, b in zip(result, row, strict=True)]
        return dict(zip(dict(self.out_dims), result, strict=True))

    def __repr__(self) -> str:
        bases = {name: list(rows) for name, rows in self.bases}
        return f"LinearLayout({bases!r}, {dict(self.out_dims)!r})"

    def __str__(self) -> str:
        ends = f"[{', '.join(f'{name} (size {extent})' for name, extent in self.out_dims)}]"
        if not self.bases:
            return f"(empty layout with out-dims {ends})" if self.out_dims else "(empty layout)"
        lines = []
        for name, rows in self.bases:
            if not rows:
                lines.append(f" - {name} is a size 1 dimension")
            for bit, row in enumerate(rows):
                mark = " - " if bit == 0 else "   "
                lines.append(f"{mark}{name}={1 << bit} -> ({', '.join(map(str, row))})")
        return "\n".join([*lines, f"where out dims are: {ends}"])

    def in_dims(self) -> dict[str, int]:
        """Return the input dimensions with their sizes.

        >>> LinearLayout({"lane": [(1,), (2,)]}, ["x"]).in_dims()
        {'lane': 4}
        """
        return {name: 1 << len(rows) for name, rows in self.bases}

    def triton_bases(self) -> list[tuple[str, list[list[int]]]]:
        """Return the bases in the form of ``bases`` in Triton, which its ``from_bases`` accepts.

        >>> LinearLayout({"lane": [(1, 0), (0, 1)]}, ["x", "y"]).triton_bases()
        [('lane', [[1, 0], [0, 1]])]
        """
        return [(name, [list(row) for row in rows]) for name, rows in self.bases]

    def matrix(self) -> F2Matrix:
        """Return the matrix of the layout with each side flattened to one number, first dimension in the lowest bits.

        >>> LinearLayout({"lane": [(1, 1)], "warp": [(0, 2)]}, {"x": 2, "y": 4}).matrix()
        F2Matrix((3, 4), 3)
        """
        columns = []
        for _, rows in self.bases:
            for row in rows:
                value = shift = 0
                for (_, extent), part in zip(self.out_dims, row, strict=True):
                    value |= part << shift
                    shift += _bits(extent)
                columns.append(value)
        return F2Matrix(columns, sum(_bits(extent) for _, extent in self.out_dims))

    def is_injective(self) -> bool:
        """Check if different inputs have different outputs."""
        return self.matrix().is_injective()

    def is_surjective(self) -> bool:
        """Check if every output within the sizes is reached."""
        return self.matrix().is_surjective()

    def compose(self, outer: LinearLayout) -> LinearLayout:
        """Return this layout followed by ``outer``: ``a.compose(b)(x) == b(a(x))``.

        Raises:
            LayoutError: if the outputs of this layout do not have the names of the inputs of ``outer``, in any order,
                or are larger.

        >>> a = LinearLayout({"lane": [(2,), (1,)]}, {"x": 4})
        >>> a.compose(LinearLayout({"x": [(4,), (8,)]}, {"offset": 16}))
        LinearLayout({'lane': [(8,), (4,)]}, {'offset': 16})
        """
        inner, outer_sizes = dict(self.out_dims), outer.in_dims()
        if set(inner) != set(outer_sizes) or any(inner[name] > outer_sizes[name] for name in inner):
            raise LayoutError(f"LinearLayout: the outputs {inner} do not fit the inputs {outer_sizes} of the other one")
        bases = [
            (name, [tuple(outer(**self._by_dimension(row)).values()) for row in rows]) for name, rows in self.bases
        ]
        return LinearLayout(bases, outer.out_dims)

    def _by_dimension(self, row: Basis) -> dict[str, int]:
        return dict(zip(dict(self.out_dims), row, strict=True))

    def invert(self) -> LinearLayout:
        """Return the layout from outputs to inputs: ``a.compose(a.invert())(x) == x == a.invert().compose(a)(x)``.

        Raises:
            LayoutError: if the numbers of inputs and outputs differ.
            NotInjectiveError: if the numbers are equal, but two inputs have the same output.

        >>> LinearLayout({"lane": [(1, 1)], "warp": [(0, 1)]}, {"x": 2, "y": 2}).invert()
        LinearLayout({'x': [(1, 1)], 'y': [(0, 1)]}, {'lane': 2, 'warp': 2})
        """
        return from_matrix(self.matrix().inverse(), dict(self.out_dims), self.in_dims())

    def pseudoinvert(self) -> LinearLayout:
        """Return a layout from each output to an input with this output: ``a.pseudoinvert().compose(a)(y) == y``.

        If several inputs have the same output, the result is the one that uses the first bits, as in Triton.

        Raises:
            LayoutError: if an output is not reached.

        >>> LinearLayout({"lane": [(1,), (1,), (2,)]}, ["x"]).pseudoinvert()
        LinearLayout({'x': [(1,), (4,)]}, {'lane': 8})
        """
        return from_matrix(self.matrix().right_inverse(), dict(self.out_dims), self.in_dims())


def from_matrix(matrix: F2Matrix, in_dims: Mapping[str, int], out_dims: Mapping[str, int]) -> LinearLayout:
    """Return the linear layout of a matrix whose columns and rows are divided among named dimensions, first lowest.

    Raises:
        LayoutError: if a size is not a power of two, or the sizes do not have as many bits as the matrix.

    >>> from_matrix(F2Matrix((3, 4)), {"lane": 2, "warp": 2}, {"x": 2, "y": 4})
    LinearLayout({'lane': [(1, 1)], 'warp': [(0, 2)]}, {'x': 2, 'y': 4})
    """
    widths = [(name, _bits(_check_size(extent, name))) for name, extent in in_dims.items()]
    heights = [_bits(_check_size(extent, name)) for name, extent in out_dims.items()]
    if sum(width for _, width in widths) != len(matrix.columns) or sum(heights) < matrix.rows:
        raise LayoutError(
            f"LinearLayout: the dimensions {dict(in_dims)} and {dict(out_dims)} do not have the {len(matrix.columns)} "
            f"input bits and {matrix.rows} output bits of the matrix"
        )
    columns = iter(matrix.columns)
    return LinearLayout([(name, [_split(next(columns), heights) for _ in range(n)]) for name, n in widths], out_dims)


def _as_pairs(items: Any, argument: str) -> list[tuple[Any, Any]]:
    try:
        return [(name, value) for name, value in (items.items() if isinstance(items, Mapping) else items)]
    except (TypeError, ValueError):
        raise LayoutError(
            f"LinearLayout: {argument} is {safe_text(items)}, which is neither a mapping nor a sequence of pairs"
        ) from None


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise LayoutError(f"LinearLayout: {safe_text(name) or repr(name)} is not a name of a dimension")
    return name


def _all_names(items: Sequence[Any]) -> bool:
    return len(items) > 0 and all(isinstance(item, str) for item in items)


def _check_differ(names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise LayoutError(f"LinearLayout: the names {', '.join(names)} are not all different")


def _bases(name: object, rows: Any) -> tuple[Basis, ...]:
    try:
        return tuple([tuple([as_int(part, "LinearLayout: a basis") for part in row]) for row in rows])
    except TypeError:
        raise LayoutError(
            f"LinearLayout: the bases of {name} are {safe_text(rows)}, which are not sequences of integers"
        ) from None


def _check_size(extent: Any, name: object) -> int:
    number = as_int(extent, f"LinearLayout: the size of {name}")
    if number < 1 or number & (number - 1):
        raise LayoutError(f"LinearLayout: the size of {name} is {number}, which is not a power of two")
    return number


def _bits(extent: int) -> int:
    return extent.bit_length() - 1


def _least_size(bases: Iterable[tuple[str, tuple[Basis, ...]]], index: int) -> int:
    """Return the smallest power of two above every basis in one output dimension."""
    largest = 0
    for _, rows in bases:
        for row in rows:
            largest = max(largest, *row[index : index + 1], 0)
    return 1 << largest.bit_length()


def _check_fits(name: str, row: Basis, sizes: Sequence[tuple[str, int]]) -> None:
    if len(row) != len(sizes) or not all(0 <= part < extent for part, (_, extent) in zip(row, sizes, strict=True)):
        raise LayoutError(f"LinearLayout: the basis {row} of {name} is not within the output dimensions {dict(sizes)}")


def _split(value: int, heights: Sequence[int]) -> Basis:
    """Return the coordinates of a flattened value, in dimensions with these numbers of bits."""
    parts = []
    for height in heights:
        parts.append(value & (1 << height) - 1)
        value >>= height
    return tuple(parts)


def to_linear_layout(
    layout: AnyLayout, in_dims: Sequence[str] | Mapping[str, int], out_dims: Mapping[str, int] | Sequence[str] = ()
) -> LinearLayout:
    """Convert a CuTe layout to Triton's form, with its index and its offset divided into named dimensions.

    Invariant: let c be the coordinates of index i in the sizes of ``in_dims``, and o the coordinates of offset
    ``layout(i)`` in the sizes of ``out_dims``, both with the first dimension fastest. The result maps c to o.

    Args:
        layout: a layout that is linear over GF(2), plain or composed. If it has basis strides, each mode of the
            coordinates to which it maps is one output dimension.
        in_dims: a name for each top-level mode; or names with sizes, which are powers of two whose product is the size.
        out_dims: names with sizes, which are powers of two whose product is above every offset; or one name. For a
            layout with basis strides, a name for each mode of the coordinates. Default: ``offset``.

    Raises:
        NotLinearError: if the layout is not linear over GF(2).
        LayoutError: if dimensions and layout do not fit.

    A thread-value layout of 2 x 2 values on 4 threads, over a 4 x 4 tile:

    >>> from layoutalg import Layout
    >>> tv = Layout(((2, 2), (2, 2)), ((2, 8), (1, 4)))
    >>> print(to_linear_layout(tv, ["lane", "register"], {"dim0": 4, "dim1": 4}))
     - lane=1 -> (2, 0)
       lane=2 -> (0, 2)
     - register=1 -> (1, 0)
       register=2 -> (0, 1)
    where out dims are: [dim0 (size 4), dim1 (size 4)]

    A swizzled tile in Triton's form of shared memory, from offset to coordinates:

    >>> from layoutalg import ComposedLayout, Swizzle
    >>> tile = ComposedLayout(Swizzle(1, 0, 2), 0, Layout((2, 4), (4, 1)))
    >>> to_linear_layout(tile, ["dim0", "dim1"]).invert().triton_bases()
    [('offset', [[0, 1], [0, 2], [1, 1]])]

    Basis strides:

    >>> from layoutalg import make_identity_layout
    >>> to_linear_layout(make_identity_layout((2, 4)), {"lane": 8}, ["dim0", "dim1"]).triton_bases()
    [('lane', [[1, 0], [0, 1], [0, 2]])]
    """
    out_dims = out_dims if isinstance(out_dims, Mapping) else _names(out_dims)
    if not isinstance(in_dims, Mapping):
        names = _names(in_dims)
        if len(names) != rank(need_layout(layout, "to_linear_layout")):
            raise LayoutError(
                f"to_linear_layout: the layout has rank {rank(layout)}, but the input dimensions are {names}; "
                f"layout = {layout}"
            )
        in_dims = {name: size(layout, mode=[mode]) for mode, name in enumerate(names)}
    if isinstance(layout, Layout) and has_basis(layout):
        return _to_coordinates(layout, in_dims, out_dims)
    matrix = to_f2(need_layout(layout, "to_linear_layout"))
    if not isinstance(out_dims, Mapping):
        if len(out_dims) > 1:
            raise LayoutError(f"to_linear_layout: the output dimensions {out_dims} have no sizes; give each a size")
        out_dims = {(out_dims or ["offset"])[0]: 1 << matrix.rows}
    return from_matrix(matrix, in_dims, out_dims)


def from_linear_layout(linear: LinearLayout) -> AnyLayout:
    """Convert a linear layout to a CuTe layout, with a mode for each input dimension.

    An offset is the number with the output coordinates in its bits, the first dimension lowest.

    Invariant: this is the inverse of :func:`to_linear_layout`, as a function.

    Raises:
        LayoutError: if the map is not a layout followed by at most one swizzle
            (:func:`layoutalg.analysis.f2_layouts.from_f2`).

    >>> tv = LinearLayout({"lane": [(2, 0), (0, 2)], "register": [(1, 0), (0, 1)]}, {"dim0": 4, "dim1": 4})
    >>> print(from_linear_layout(tv))
    ((2,2),(2,2)):((2,8),(1,4))
    """
    if not isinstance(linear, LinearLayout):
        raise LayoutError(f"from_linear_layout: {safe_text(linear)} is not a LinearLayout")
    return from_f2(linear.matrix(), tuple(linear.in_dims().values()))


def _to_coordinates(
    layout: Layout, in_dims: Mapping[str, int], out_dims: Mapping[str, int] | Sequence[str]
) -> LinearLayout:
    """Convert a layout with basis strides; each mode of the coordinates to which it maps is one output dimension."""
    shape, strides = flatten_tuple(layout.shape), flatten_tuple(layout.stride)
    weights = [[0] * len(shape) for _ in out_dims]
    for leaf, stride in enumerate(strides):
        if shape[leaf] != 1 and stride != 0:
            if not isinstance(stride, ScaledBasis) or len(stride.mode) != 1 or stride.mode[0] >= len(weights):
                raise LayoutError(
                    f"to_linear_layout: stride {stride} is not a coordinate of one of the output dimensions "
                    f"{list(out_dims)}; layout = {layout}"
                )
            weights[stride.mode[0]][leaf] = need_int(stride.value, "to_linear_layout: a stride")
    parts = [to_f2(trusted(shape, tuple(row))) for row in weights]
    if not isinstance(out_dims, Mapping):
        out_dims = {name: 1 << part.rows for name, part in zip(out_dims, parts, strict=True)}
    columns = [0] * len(parts[0].columns)
    shift = 0
    for part, extent in zip(parts, out_dims.values(), strict=True):
        if 1 << part.rows > extent:
            raise LayoutError(
                f"to_linear_layout: an output dimension of {out_dims} is less than {1 << part.rows}, which the layout "
                f"needs; layout = {layout}"
            )
        columns = [column | (more << shift) for column, more in zip(columns, part.columns, strict=True)]
        shift += extent.bit_length() - 1
    return from_matrix(F2Matrix(columns, shift), in_dims, out_dims)


def _names(names: Sequence[str]) -> list[str]:
    if isinstance(names, str):
        return [names]
    dimensions = list(names) if isinstance(names, Iterable) else [names]
    if not all(isinstance(name, str) for name in dimensions):
        raise LayoutError(f"to_linear_layout: the dimensions {safe_text(names)} are not all names")
    return dimensions
