"""layoutalg: the CuTe layout algebra in plain Python, exact on every input.

A :class:`Layout` maps coordinates to offsets. The operations are free functions with CuTe's names; each returns a
layout that satisfies its definition, or raises a :class:`LayoutError` that says why none does.

>>> from layoutalg import Layout, zipped_divide
>>> print(zipped_divide(Layout((8, 8), (8, 1)), (4, 2)))
((4,2),(2,4)):((8,1),(32,2))
"""

from layoutalg.banks import access, accesses, wavefronts
from layoutalg.basis import E, ScaledBasis
from layoutalg.coalesce import coalesce, filter, filter_zeros
from layoutalg.complement import complement
from layoutalg.composition import composition
from layoutalg.divide import flat_divide, logical_divide, tiled_divide, zipped_divide
from layoutalg.errors import (
    CoordinateError,
    LayoutError,
    NotationError,
    NotDivisibleError,
    NotInjectiveError,
    UndecidedError,
)
from layoutalg.int_tuple import product
from layoutalg.inverse import left_inverse, max_common_layout, max_common_vector, nullspace, right_inverse
from layoutalg.layout import ComposedLayout, Layout
from layoutalg.memory import gather, scatter, strided_view
from layoutalg.modes import (
    append,
    cosize,
    depth,
    flatten,
    get,
    group_modes,
    is_congruent,
    is_weakly_congruent,
    leading_dim,
    make_layout,
    prepend,
    rank,
    select,
    size,
)
from layoutalg.notation import parse_int_tuple, parse_layout
from layoutalg.offsets import offsets
from layoutalg.ordered import make_composed_layout, make_identity_layout, make_layout_like, make_ordered_layout
from layoutalg.products import (
    blocked_product,
    flat_product,
    logical_product,
    raked_product,
    tile_to_shape,
    tiled_product,
    zipped_product,
)
from layoutalg.recast import downcast, recast_layout, upcast
from layoutalg.slicing import crd2idx, dice, idx2crd, slice_, slice_and_offset
from layoutalg.swizzle import Swizzle
from layoutalg.symbols import prove, substitute, symbols_of
from layoutalg.tiling import local_partition, local_tile

__version__ = "0.1.0"

__all__ = [
    "ComposedLayout",
    "CoordinateError",
    "E",
    "Layout",
    "LayoutError",
    "NotDivisibleError",
    "NotInjectiveError",
    "NotationError",
    "ScaledBasis",
    "Swizzle",
    "UndecidedError",
    "access",
    "accesses",
    "append",
    "blocked_product",
    "coalesce",
    "complement",
    "composition",
    "cosize",
    "crd2idx",
    "depth",
    "dice",
    "downcast",
    "filter",
    "filter_zeros",
    "flat_divide",
    "flat_product",
    "flatten",
    "gather",
    "get",
    "group_modes",
    "idx2crd",
    "is_congruent",
    "is_weakly_congruent",
    "leading_dim",
    "left_inverse",
    "local_partition",
    "local_tile",
    "logical_divide",
    "logical_product",
    "make_composed_layout",
    "make_identity_layout",
    "make_layout",
    "make_layout_like",
    "make_ordered_layout",
    "max_common_layout",
    "max_common_vector",
    "nullspace",
    "offsets",
    "parse_int_tuple",
    "parse_layout",
    "prepend",
    "product",
    "prove",
    "raked_product",
    "rank",
    "recast_layout",
    "right_inverse",
    "scatter",
    "select",
    "size",
    "slice_",
    "slice_and_offset",
    "strided_view",
    "substitute",
    "symbols_of",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "upcast",
    "wavefronts",
    "zipped_divide",
    "zipped_product",
]
