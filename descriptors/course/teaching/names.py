"""What the words of this course are called in CuTe, for a course on CUDA that follows: CuTe DSL and CuTe C++.

A name of the DSL is looked up below ``cutlass.cute``; the C++ names are those of ``include/cute`` of CUTLASS, which an
installed package of it confirms. Law: where the DSL has the operation, its name is the name here.

>>> {row.ours for row in ROWS if row.dsl and row.ours and row.ours != row.dsl}
{'derive'}
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Named:
    """One thing and its names: here, in the DSL, in C++, each empty where there is none; and what differs."""

    what: str
    ours: str
    dsl: str
    cpp: str
    differs: str = ""


def _same(what: str, *names: str) -> tuple[Named, ...]:
    return tuple(Named(what, name, name, name) for name in names)


#: Every row of the table, in the order of the lessons.
ROWS: tuple[Named, ...] = (
    *_same("a layout", "make_layout"),
    Named("call a layout", "crd2idx", "crd2idx", "crd2idx", "C++: layout(i, j) as well; DSL: layout((i, j))"),
    *_same("index to coordinate", "idx2crd"),
    *_same("compact in an order", "make_ordered_layout"),
    *_same("how large", "size", "cosize", "rank", "depth"),
    Named("one mode", "get", "get", "get", "C++: get<0>(layout), layout<0>(layout)"),
    Named("a slice", "slice_", "slice_", "slice", "C++: the coordinate holds _, the DSL None"),
    Named("same nesting", "is_congruent", "is_congruent", "congruent", "C++: a type, true or false when compiled"),
    *_same("shortest form", "coalesce", "filter", "filter_zeros", "flatten", "group_modes"),
    *_same("compose, fill, invert", "composition", "complement", "right_inverse", "left_inverse"),
    *_same("widest common part", "max_common_layout", "max_common_vector"),
    *_same("cut", "logical_divide", "zipped_divide", "tiled_divide", "flat_divide"),
    *_same("build", "logical_product", "blocked_product", "raked_product", "tile_to_shape"),
    *_same("whose part", "local_tile", "local_partition"),
    Named("thread and value", "make_layout_tv", "make_layout_tv", "", "C++: inside make_tiled_copy"),
    *_same("tiled instruction", "make_tiled_mma"),
    Named("coordinates as values", "make_identity_layout", "make_identity_layout", "make_identity_layout"),
    Named("swizzle", "make_swizzle", "make_swizzle", "Swizzle", "C++: the type Swizzle<B,M,S>, also make_swizzle<Y,Z>"),
    Named("layout and swizzle", "make_composed_layout", "make_composed_layout", "make_composed_layout"),
    Named("another unit", "recast_layout", "recast_layout", "recast_layout", "C++: recast_layout<Old, New>(layout)"),
    Named("larger, smaller unit", "upcast", "", "upcast", "C++: upcast<N>(layout), downcast<N>(layout)"),
    Named("atom of wgmma", "", "nvgpu.warpgroup.make_smem_layout_atom", "Layout_K_SW128_Atom", "namespace GMMA"),
    Named("atom of tcgen05", "", "nvgpu.tcgen05.make_smem_layout_atom", "Layout_K_SW128_Atom", "namespace UMMA"),
    Named("word of wgmma", "derive", "", "make_gmma_desc", "DSL: made inside gemm"),
    Named("word of tcgen05", "derive", "nvgpu.tcgen05.make_umma_smem_desc", "make_umma_desc", "C++: a SmemDescriptor"),
    Named(
        "TMA copy", "", "nvgpu.cpasync.make_tiled_tma_atom", "make_tma_copy", "C++: make_tma_atom for the atom alone"
    ),
    Named("wgmma: before", "", "nvgpu.warpgroup.fence", "warpgroup_arrive"),
    Named("wgmma: close a group", "", "nvgpu.warpgroup.commit_group", "warpgroup_commit_batch"),
    Named("wgmma: wait", "", "nvgpu.warpgroup.wait_group", "warpgroup_wait", "C++: warpgroup_wait<N>()"),
)


def table() -> str:
    """The names as an HTML table.

    >>> table().count("<tr>") == len(ROWS) + 1
    True
    """
    head = "".join(f'<th scope="col">{one}</th>' for one in ("what", "here", "CuTe DSL", "CuTe C++", "differs"))
    lines = []
    for row in ROWS:
        names = "".join(f"<td><code>{escape(name)}</code></td>" for name in (row.ours, row.dsl, row.cpp))
        lines.append(f"<tr><td>{escape(row.what)}</td>{names}<td>{escape(row.differs)}</td></tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
