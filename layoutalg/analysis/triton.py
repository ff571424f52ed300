"""CuTe's layouts in Triton's form, and back.

Conventions, which are Triton's:

- A register layout maps ``register``, ``lane``, ``warp``, ``block`` to the coordinates ``dim0``, ``dim1``, ... of a
  tensor: what CuTe calls a thread-value layout, with its modes named and the index into the tile split.
- A shared-memory layout maps ``offset`` (and ``block``), in elements, to those coordinates. CuTe's tile is the map the
  other way: invert its linear layout (:meth:`LinearLayout.invert`).
- Numbers are split into dimensions, and joined, with the first dimension in the lowest bits, as CuTe orders modes.

What Triton's form cannot say: extents that are no powers of two, padding, and the nesting of CuTe's modes.

Source: Triton ``include/triton/Tools/LinearLayout.h``, ``python/triton/experimental/gluon/language/_layouts.py``. The
tests compare with Triton 3.9.0 (``tests/vectors/triton.json``).

>>> from layoutalg import Layout
>>> tv = Layout(((2, 2), (2, 2)), ((2, 8), (1, 4)))  # (lane, register) -> index into a tile of 4 x 4
>>> back = from_linear_layout(to_linear_layout(tv, ["lane", "register"], {"dim0": 4, "dim1": 4}))
>>> print(back, all(back(i) == tv(i) for i in range(16)))
((2,2),(2,2)):((2,8),(1,4)) True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from layoutalg.analysis.f2_matrix import F2Matrix
from layoutalg.analysis.from_f2 import from_f2
from layoutalg.analysis.linear_layout import LinearLayout, from_matrix
from layoutalg.analysis.to_f2 import to_f2
from layoutalg.errors import LayoutError
from layoutalg.layouts.layout import Layout, has_basis, trusted
from layoutalg.layouts.modes import AnyLayout, need_layout, rank, size
from layoutalg.tuples.basis import ScaledBasis
from layoutalg.tuples.int_tuple import flatten_tuple, safe_text
from layoutalg.tuples.leaf import need_int


def to_linear_layout(
    layout: AnyLayout, in_dims: Sequence[str] | Mapping[str, int], out_dims: Mapping[str, int] | Sequence[str] = ()
) -> LinearLayout:
    """A CuTe layout in Triton's form: its index divided into named dimensions, and its offset.

    Law: with c the coordinates of index i in the sizes of ``in_dims``, and o those of offset ``layout(i)`` in the sizes
    of ``out_dims``, both first dimension fastest, the result maps c to o.

    Args:
        layout: a layout that is linear over GF(2), plain or composed. One with basis strides maps to coordinates: each
            of these is one output dimension then.
        in_dims: a name for each top-level mode; or names with sizes, powers of two whose product is the size.
        out_dims: names with sizes, powers of two that hold every offset; or one name (a name for each coordinate, where
            the layout maps to coordinates). Default: ``offset``.

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

    A swizzled tile, as Triton describes shared memory: from offset to coordinates.

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
                f"to_linear_layout: each of the {rank(layout)} modes must have a name, found {names}; layout = {layout}"
            )
        in_dims = {name: size(layout, mode=[mode]) for mode, name in enumerate(names)}
    if isinstance(layout, Layout) and has_basis(layout):
        return _to_coordinates(layout, in_dims, out_dims)
    matrix = to_f2(need_layout(layout, "to_linear_layout"))
    if not isinstance(out_dims, Mapping):
        if len(out_dims) > 1:
            raise LayoutError(f"to_linear_layout: several output dimensions must have sizes, found {out_dims}")
        out_dims = {(out_dims or ["offset"])[0]: 1 << matrix.rows}
    return from_matrix(matrix, in_dims, out_dims)


def from_linear_layout(linear: LinearLayout) -> AnyLayout:
    """The CuTe layout of a linear layout: a mode for each input dimension, offsets that hold the outputs side by side.

    Law: the inverse of :func:`to_linear_layout` as a function.

    Raises:
        LayoutError: if no layout after at most one swizzle is this map (:func:`layoutalg.analysis.from_f2.from_f2`).

    >>> tv = LinearLayout({"lane": [(2, 0), (0, 2)], "register": [(1, 0), (0, 1)]}, {"dim0": 4, "dim1": 4})
    >>> print(from_linear_layout(tv))
    ((2,2),(2,2)):((2,8),(1,4))
    """
    if not isinstance(linear, LinearLayout):
        raise LayoutError(f"from_linear_layout: the operand must be a LinearLayout, found {safe_text(linear)}")
    return from_f2(linear.matrix(), tuple(linear.in_dims().values()))


def _to_coordinates(
    layout: Layout, in_dims: Mapping[str, int], out_dims: Mapping[str, int] | Sequence[str]
) -> LinearLayout:
    """A layout with basis strides: one output dimension for each mode of the coordinate that it maps to."""
    shape, strides = flatten_tuple(layout.shape), flatten_tuple(layout.stride)
    weights = [[0] * len(shape) for _ in out_dims]
    for leaf, stride in enumerate(strides):
        if shape[leaf] != 1 and stride != 0:
            if not isinstance(stride, ScaledBasis) or len(stride.mode) != 1 or stride.mode[0] >= len(weights):
                raise LayoutError(
                    f"to_linear_layout: each coordinate must have a name, found {list(out_dims)} and stride {stride}; "
                    f"layout = {layout}"
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
                f"to_linear_layout: sizes must hold {1 << part.rows}, found {out_dims}; layout = {layout}"
            )
        columns = [column | (more << shift) for column, more in zip(columns, part.columns, strict=True)]
        shift += extent.bit_length() - 1
    return from_matrix(F2Matrix(columns, shift), in_dims, out_dims)


def _names(names: Sequence[str]) -> list[str]:
    if isinstance(names, str):
        return [names]
    found = list(names) if isinstance(names, Iterable) else [names]
    if not all(isinstance(name, str) for name in found):
        raise LayoutError(f"to_linear_layout: dimensions must be names, found {safe_text(names)}")
    return found
