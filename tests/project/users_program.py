"""A program as a user writes it: type checkers read it, and it runs.

`tests/project/test_users_types.py` has mypy read it in strict mode; any checker that knows `assert_type` can. What it
leaves unsaid is as telling: no cast, no ignored line, no annotation that an inferred type would do for.
"""

from __future__ import annotations

from typing import assert_type

from descriptors import Derivation, derive
from layoutalg import (
    AccessPattern,
    AnyLayout,
    ComposedLayout,
    Coord,
    E,
    Index,
    Integer,
    IntTuple,
    Layout,
    Polynomial,
    Shape,
    Stride,
    Swizzle,
    Tiler,
    append,
    coalesce,
    complement,
    composition,
    crd2idx,
    draw,
    flatten,
    fragment,
    get,
    group_modes,
    idx2crd,
    left_inverse,
    local_partition,
    local_tile,
    logical_divide,
    make_identity_layout,
    make_layout,
    make_layout_tv,
    make_tiled_mma,
    moves,
    parse_layout,
    product,
    prove,
    right_inverse,
    select,
    size,
    slice_,
    slice_and_offset,
    substitute,
    swizzle_mode,
    symbol,
    symbols_of,
    tile_to_shape,
    upcast,
    zipped_divide,
)

tile = Layout((8, 64), (64, 1))
swizzled = ComposedLayout(Swizzle(3, 4, 3), 0, tile)
either: AnyLayout = swizzled if size(tile) > 1 else tile
m = symbol("m")

# A call tells an offset from a part of the layout by the coordinate.
assert_type(tile(3), int)
assert_type(tile(1, 2), int)
assert_type(tile((1, 2)), int)
assert_type(tile(None, 2), Layout)
assert_type(tile((None, 2)), Layout)
assert_type(swizzled(1, 2), int)
assert_type(swizzled(None, 2), AnyLayout)
assert_type(either(3), int)
assert_type(tile[0], Layout)
assert_type(swizzled[0], ComposedLayout)
assert_type(list(tile), list[Layout])
assert_type(tile.shape, Shape)
assert_type(composition(tile, tile).stride, Stride)

# Operations keep the kind of a layout.
assert_type(composition(tile, (2, None)), Layout)
assert_type(composition(tile, swizzled), ComposedLayout)
assert_type(composition(swizzled, tile), ComposedLayout)
assert_type(composition(Swizzle(3, 4, 3), tile), ComposedLayout)
assert_type(composition(either, 4), AnyLayout)
assert_type(coalesce(tile), Layout)
assert_type(complement(Layout(4, 2), 24), Layout)
assert_type(logical_divide(swizzled, (4, 2)), ComposedLayout)
assert_type(zipped_divide(tile, (4, Layout(2, 2))), Layout)
assert_type(tile_to_shape(swizzled, (128, 128), (0, 1)), ComposedLayout)
assert_type(right_inverse(tile), Layout)
assert_type(left_inverse(swizzled), ComposedLayout)
assert_type(upcast(tile, 8), Layout)
assert_type(make_layout((8, 4), stride=(4, 1)), Layout)
assert_type(make_layout(tile, tile), Layout)
assert_type(make_layout(swizzled, tile), ComposedLayout)
assert_type(slice_(tile, (None, 3)), Layout)
assert_type(slice_and_offset((None, 3), tile), tuple[Layout, int])
assert_type(local_tile(tile, (4, 4), (0, 1)), tuple[Layout, int])
assert_type(local_partition(swizzled, Layout((4, 2)), 3), tuple[AnyLayout, int])

# Shapes and layouts alike.
assert_type(size(tile), int)
assert_type(product((8, (4, 2))), int)
assert_type(get(tile, [0]), Layout)
assert_type(get((2, (3, 4)), 1), IntTuple)
assert_type(flatten(swizzled), ComposedLayout)
assert_type(select((2, 3, 4), [1]), tuple[IntTuple, ...])
assert_type(append(tile, Layout(3, 7)), Layout)
assert_type(group_modes(tile, 0, 2), Layout)
assert_type(crd2idx((1, 2), tile), int)
assert_type(idx2crd(3, (4, 8)), Index)
assert_type(parse_layout("4:1"), Layout | ComposedLayout | Swizzle)

# Symbols.
assert_type(m, Polynomial)
assert_type(8 * m + 2, Integer)
assert_type(Layout((8 * m, 64), (64, E(1))) if size(tile) < 1 else tile, Layout)
assert_type(substitute(tile, {"m": 4}), Layout)
assert_type(symbols_of(Layout((8 * m, 64))), list[str])
assert_type(prove(tile, tile).proved, bool)

# Fragments.
assert_type(fragment("mma.m16n8k16.C").layout, Layout)
assert_type(make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1)).partition_C(Layout((64, 64)), 5), tuple[AnyLayout, int])
assert_type(make_layout_tv(Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1))), tuple[tuple[int, ...], Layout])
assert_type(moves(fragment("ldmatrix.x4"), Layout((64, 64), (64, 1)), 2), AccessPattern)
assert_type(swizzle_mode(Swizzle(3, 4, 3)), str | None)

# Pictures.
assert_type(draw(tile).text(color=True, width=80), str)
assert_type(draw(either).html(), str)

# Descriptors.
found = derive((128, 64), "bf16", "K", "128B", (128, 16))
assert_type(found, Derivation)
word: int = found.words()[0][0] | found.offsets_bytes()[0][1]


def tiles(layout: AnyLayout, tiler: Tiler) -> AnyLayout:
    """Functions of a user's own take and give the same types."""
    return zipped_divide(layout, tiler)


def leaves(shape: Shape) -> int:
    """A recursive type is taken apart by what it is made of."""
    return sum(map(leaves, shape)) if isinstance(shape, tuple) else 1


def kept(coord: Coord) -> bool:
    """A coordinate may keep modes."""
    return coord is None or (isinstance(coord, tuple) and any(map(kept, coord)))


assert_type(tiles(tile, (4, 2)), AnyLayout)
assert leaves((4, (2, 8))) == 3
assert kept((1, None))
assert str(make_identity_layout((4, 8))) == "(4,8):(1@0,1@1)"
