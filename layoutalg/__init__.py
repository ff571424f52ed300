"""layoutalg: the CuTe layout algebra in plain Python.

A :class:`Layout` maps coordinates to offsets. The operations are free functions with CuTe's names; each returns a
layout that satisfies its definition, or raises a :class:`LayoutError` that says why none does.

>>> from layoutalg import Layout, zipped_divide
>>> print(zipped_divide(Layout((8, 8), (8, 1)), (4, 2)))
((4,2),(2,4)):((8,1),(32,2))
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a type checker needs the same names as in _NAMES
    from layoutalg.algebra.arithmetic import (
        ceil_div,
        elem_less,
        increment_coord,
        product_each,
        shape_div,
        tuple_add,
        tuple_sub,
    )
    from layoutalg.algebra.coalesce import coalesce, filter_zeros
    from layoutalg.algebra.coalesce import filter as filter
    from layoutalg.algebra.complement import complement
    from layoutalg.algebra.composition import composition, with_shape
    from layoutalg.algebra.divide import flat_divide, logical_divide, tiled_divide, zipped_divide
    from layoutalg.algebra.inverse import left_inverse, max_common_layout, max_common_vector, nullspace, right_inverse
    from layoutalg.algebra.make import (
        make_composed_layout,
        make_identity_layout,
        make_layout,
        make_layout_like,
        make_ordered_layout,
    )
    from layoutalg.algebra.products import (
        blocked_product,
        flat_product,
        logical_product,
        raked_product,
        tile_to_shape,
        tiled_product,
        zipped_product,
    )
    from layoutalg.algebra.rearrange import append, flatten, group_modes, prepend, select
    from layoutalg.algebra.recast import downcast, recast_layout, upcast
    from layoutalg.algebra.slicing import dice, slice_, slice_and_offset
    from layoutalg.algebra.symbols import Proof, prove, substitute, symbols_of
    from layoutalg.algebra.tiling import local_partition, local_tile
    from layoutalg.analysis.banks import Access, access, bank_group, wavefronts
    from layoutalg.analysis.f2_layouts import NotLinearError, from_f2, to_f2, to_f2_affine
    from layoutalg.analysis.f2_matrix import F2Matrix
    from layoutalg.analysis.linear_layout import LinearLayout, from_linear_layout, to_linear_layout
    from layoutalg.analysis.swizzle_search import (
        SWIZZLE_MODES,
        AccessPattern,
        NoSwizzleError,
        conflicts_by_rank,
        swizzle_mode,
        wavefronts_by_rank,
    )
    from layoutalg.compilers.encoding import Encoding
    from layoutalg.drawing.figure import Figure
    from layoutalg.drawing.picture import Picture
    from layoutalg.drawing.shapes import Scene
    from layoutalg.dsl_programs import jit, make_swizzle
    from layoutalg.errors import (
        CoordinateError,
        LayoutError,
        NotationError,
        NotDivisibleError,
        NotInjectiveError,
        UndecidedError,
    )
    from layoutalg.explanations.explanation import Explanation, explain
    from layoutalg.explanations.step import ExplanationStep
    from layoutalg.fragments.copy_atoms import CopyAtom, copy_atom
    from layoutalg.fragments.feeds import Feed, Held, feeds
    from layoutalg.fragments.fragment import Fragment
    from layoutalg.fragments.fragment_accesses import accesses, find_swizzle, moves
    from layoutalg.fragments.fragment_names import fragment
    from layoutalg.fragments.partitions import (
        owners,
        partition_A,
        partition_B,
        partition_C,
        partition_D,
        partition_S,
        retile,
        thrfrg_A,
        thrfrg_B,
        thrfrg_C,
        thrfrg_D,
        thrfrg_S,
    )
    from layoutalg.fragments.tiled_copy import (
        ThrCopy,
        TiledCopy,
        make_cotiled_copy,
        make_layout_tv,
        make_tiled_copy,
        make_tiled_copy_A,
        make_tiled_copy_B,
        make_tiled_copy_C,
        make_tiled_copy_C_atom,
        make_tiled_copy_D,
        make_tiled_copy_S,
        make_tiled_copy_tv,
    )
    from layoutalg.fragments.tiled_mma import MmaAtom, ThrMma, TiledMma, make_tiled_mma, mma_atom
    from layoutalg.fragments.tma_partition import tma_partition
    from layoutalg.laws.law import broken_law, law_names
    from layoutalg.layouts.composed import ComposedLayout
    from layoutalg.layouts.cosize import cosize
    from layoutalg.layouts.layout import Layout
    from layoutalg.layouts.memory import gather, scatter, strided_view
    from layoutalg.layouts.modes import (
        AnyLayout,
        Mode,
        Tiler,
        crd2idx,
        depth,
        get,
        idx2crd,
        is_congruent,
        is_weakly_congruent,
        leading_dim,
        rank,
        size,
    )
    from layoutalg.layouts.offsets import from_offsets, offset_table, offsets
    from layoutalg.layouts.swizzle import Swizzle
    from layoutalg.notation.expression import evaluate
    from layoutalg.notation.parser import parse_int_tuple, parse_layout
    from layoutalg.notation.printed import Pointer, parse_encoding, parse_pointer
    from layoutalg.pictures.layout_picture import LayoutPicture, draw
    from layoutalg.tuples.int_tuple import Coord, Index, Integer, IntTuple, Shape, Stride, product
    from layoutalg.tuples.polynomial import Polynomial, symbol
    from layoutalg.tuples.scaled_basis import E, ScaledBasis

__version__ = "0.1.0"

#: The public names by the module that defines them. A module is imported when one of its names is first used.
_NAMES = {
    "algebra.arithmetic": "ceil_div elem_less increment_coord product_each shape_div tuple_add tuple_sub",
    "algebra.coalesce": "coalesce filter filter_zeros",
    "algebra.complement": "complement",
    "algebra.composition": "composition with_shape",
    "algebra.divide": "flat_divide logical_divide tiled_divide zipped_divide",
    "algebra.inverse": "left_inverse max_common_layout max_common_vector nullspace right_inverse",
    "algebra.make": "make_composed_layout make_identity_layout make_layout make_layout_like make_ordered_layout",
    "algebra.products": (
        "blocked_product flat_product logical_product raked_product tile_to_shape tiled_product zipped_product"
    ),
    "algebra.rearrange": "append flatten group_modes prepend select",
    "algebra.recast": "downcast recast_layout upcast",
    "algebra.slicing": "dice slice_ slice_and_offset",
    "algebra.symbols": "Proof prove substitute symbols_of",
    "algebra.tiling": "local_partition local_tile",
    "analysis.banks": "Access access bank_group wavefronts",
    "analysis.f2_layouts": "from_f2 NotLinearError to_f2 to_f2_affine",
    "analysis.f2_matrix": "F2Matrix",
    "analysis.linear_layout": "from_linear_layout LinearLayout to_linear_layout",
    "analysis.swizzle_search": (
        "AccessPattern conflicts_by_rank NoSwizzleError swizzle_mode SWIZZLE_MODES wavefronts_by_rank"
    ),
    "compilers.encoding": "Encoding",
    "drawing.figure": "Figure",
    "drawing.picture": "Picture",
    "drawing.shapes": "Scene",
    "dsl_programs": "jit make_swizzle",
    "errors": "CoordinateError LayoutError NotationError NotDivisibleError NotInjectiveError UndecidedError",
    "explanations.explanation": "explain Explanation",
    "explanations.step": "ExplanationStep",
    "fragments.feeds": "Feed Held feeds",
    "fragments.fragment": "Fragment",
    "fragments.fragment_accesses": "accesses find_swizzle moves",
    "fragments.fragment_names": "fragment",
    "fragments.copy_atoms": "copy_atom CopyAtom",
    "fragments.partitions": (
        "owners partition_A partition_B partition_C partition_D partition_S retile thrfrg_A thrfrg_B thrfrg_C thrfrg_D "
        "thrfrg_S"
    ),
    "fragments.tiled_copy": (
        "make_cotiled_copy make_layout_tv make_tiled_copy make_tiled_copy_A make_tiled_copy_B make_tiled_copy_C "
        "make_tiled_copy_C_atom make_tiled_copy_D make_tiled_copy_S make_tiled_copy_tv ThrCopy TiledCopy"
    ),
    "fragments.tiled_mma": "make_tiled_mma mma_atom MmaAtom ThrMma TiledMma",
    "fragments.tma_partition": "tma_partition",
    "laws.law": "broken_law law_names",
    "layouts.composed": "ComposedLayout",
    "layouts.cosize": "cosize",
    "layouts.layout": "Layout",
    "layouts.memory": "gather scatter strided_view",
    "layouts.modes": (
        "AnyLayout crd2idx depth get idx2crd is_congruent is_weakly_congruent leading_dim Mode rank size Tiler"
    ),
    "layouts.offsets": "from_offsets offset_table offsets",
    "layouts.swizzle": "Swizzle",
    "notation.expression": "evaluate",
    "notation.parser": "parse_int_tuple parse_layout",
    "notation.printed": "parse_encoding parse_pointer Pointer",
    "pictures.layout_picture": "draw LayoutPicture",
    "tuples.int_tuple": "Coord Index Integer IntTuple product Shape Stride",
    "tuples.polynomial": "Polynomial symbol",
    "tuples.scaled_basis": "E ScaledBasis",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

# All public names except `filter`, which would hide Python's builtin after `from layoutalg import *`.
__all__ = [
    "SWIZZLE_MODES",
    "Access",
    "AccessPattern",
    "AnyLayout",
    "ComposedLayout",
    "Coord",
    "CoordinateError",
    "CopyAtom",
    "E",
    "Encoding",
    "Explanation",
    "ExplanationStep",
    "F2Matrix",
    "Feed",
    "Figure",
    "Fragment",
    "Held",
    "Index",
    "IntTuple",
    "Integer",
    "Layout",
    "LayoutError",
    "LayoutPicture",
    "LinearLayout",
    "MmaAtom",
    "Mode",
    "NoSwizzleError",
    "NotDivisibleError",
    "NotInjectiveError",
    "NotLinearError",
    "NotationError",
    "Picture",
    "Pointer",
    "Polynomial",
    "Proof",
    "ScaledBasis",
    "Scene",
    "Shape",
    "Stride",
    "Swizzle",
    "ThrCopy",
    "ThrMma",
    "TiledCopy",
    "TiledMma",
    "Tiler",
    "UndecidedError",
    "access",
    "accesses",
    "append",
    "bank_group",
    "blocked_product",
    "broken_law",
    "ceil_div",
    "coalesce",
    "complement",
    "composition",
    "conflicts_by_rank",
    "copy_atom",
    "cosize",
    "crd2idx",
    "depth",
    "dice",
    "downcast",
    "draw",
    "elem_less",
    "evaluate",
    "explain",
    "feeds",
    "filter_zeros",
    "find_swizzle",
    "flat_divide",
    "flat_product",
    "flatten",
    "fragment",
    "from_f2",
    "from_linear_layout",
    "from_offsets",
    "gather",
    "get",
    "group_modes",
    "idx2crd",
    "increment_coord",
    "is_congruent",
    "is_weakly_congruent",
    "jit",
    "law_names",
    "leading_dim",
    "left_inverse",
    "local_partition",
    "local_tile",
    "logical_divide",
    "logical_product",
    "make_composed_layout",
    "make_cotiled_copy",
    "make_identity_layout",
    "make_layout",
    "make_layout_like",
    "make_layout_tv",
    "make_ordered_layout",
    "make_swizzle",
    "make_tiled_copy",
    "make_tiled_copy_A",
    "make_tiled_copy_B",
    "make_tiled_copy_C",
    "make_tiled_copy_C_atom",
    "make_tiled_copy_D",
    "make_tiled_copy_S",
    "make_tiled_copy_tv",
    "make_tiled_mma",
    "max_common_layout",
    "max_common_vector",
    "mma_atom",
    "moves",
    "nullspace",
    "offset_table",
    "offsets",
    "owners",
    "parse_encoding",
    "parse_int_tuple",
    "parse_layout",
    "parse_pointer",
    "partition_A",
    "partition_B",
    "partition_C",
    "partition_D",
    "partition_S",
    "prepend",
    "product",
    "product_each",
    "prove",
    "raked_product",
    "rank",
    "recast_layout",
    "retile",
    "right_inverse",
    "scatter",
    "select",
    "shape_div",
    "size",
    "slice_",
    "slice_and_offset",
    "strided_view",
    "substitute",
    "swizzle_mode",
    "symbol",
    "symbols_of",
    "thrfrg_A",
    "thrfrg_B",
    "thrfrg_C",
    "thrfrg_D",
    "thrfrg_S",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "tma_partition",
    "to_f2",
    "to_f2_affine",
    "to_linear_layout",
    "tuple_add",
    "tuple_sub",
    "upcast",
    "wavefronts",
    "wavefronts_by_rank",
    "with_shape",
    "zipped_divide",
    "zipped_product",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    member = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = member
    return member


def __dir__() -> list[str]:
    return sorted([*_HOMES, "__version__"])
