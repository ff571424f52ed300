"""The plans of compositions, divides, slices and products, which give the expected point at each coordinate.

The points of a plan are coordinates of the operand, ``((path, index), ...)``. The points of a product are offsets of
the block at path (0,) and indices into its complement at path (1,).

Invariant: coordinate i of a composition has the value a(b(i)); the copies of a product do not overlap.

>>> from layoutalg import Layout
>>> from layoutalg.laws.points import expected_values
>>> a, b = Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1))
>>> expected_values(composition(a, b)) == [a(b(i)) for i in range(12)]
True
>>> sorted(expected_values(logical_product(Layout(4, 2), Layout(6)))) == list(range(24))
True
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from layoutalg.laws.existence import beyond, divide, split, tiles_of
from layoutalg.laws.points import (
    Merged,
    NoAnswerError,
    Part,
    Plain,
    Plan,
    Value,
    after,
    count,
    digits,
    inner,
    items,
    leaves,
    modes,
    nested_like,
    plus,
    swizzled,
    values,
)


def coordinate_value(operand: Any) -> Value:
    """Return the function from a sum of points, which are coordinates of the operand, to the value of the operand."""
    if hasattr(operand, "bits"):  # a swizzle has one mode, which is the offset
        return lambda point: swizzled(operand, dict(point).get((), 0))
    return lambda point: after(operand, point)


def place(path: tuple[int, ...], index: Any) -> Any:
    """Return the point of an index of the mode at a path; a basis point is a coordinate of the modes below it."""
    if isinstance(index, tuple):
        return tuple(((*path, *deeper), coefficient) for deeper, coefficient in index)
    return ((path, index),) if index else ()


def as_layout(tiler: Any) -> Any:
    """Return a tiler that is not a tuple as a layout; an integer n is n:1."""
    return tiler if hasattr(tiler, "shape") else Plain(tiler, 1)


def _modes_and_paths(shape: Any, path: tuple[int, ...]) -> list[tuple[Any, tuple[int, ...]]]:
    """Return the top modes of a shape with their paths; a leaf is its only mode."""
    return [(mode, (*path, k)) for k, mode in enumerate(items(shape))]


def _check_rank(tiler: tuple[Any, ...], shape: Any) -> None:
    """Check that a tiler has at most as many modes as a shape.

    Raises:
        NoAnswerError: if it has more.
    """
    if len(tiler) > len(items(shape)):
        raise NoAnswerError


def composed(shape: Any, path: tuple[int, ...], tiler: Any) -> Any:
    """Return the tree of a composition, in which each tiler indexes its mode of the shape."""
    if tiler is None:
        return Part([place(path, index) for index in range(count(shape))], shape)
    if isinstance(tiler, tuple):
        _check_rank(tiler, shape)
        pairs_ = zip(_modes_and_paths(shape, path), tiler, strict=False)
        return tuple(composed(mode, mode_path, item) for (mode, mode_path), item in pairs_)
    layout = as_layout(tiler)
    return Part([place(path, index) for index in values(layout)], layout.shape)


def composition(a: Any, b: Any) -> Plan:
    """Return the plan of a composition: coordinate i has coordinate b(i) of a."""
    return Plan(composed(getattr(a, "shape", 0), (), b), coordinate_value(a))


# Divides


def _split(shape: Any, path: tuple[int, ...], tiler: Any, round_up: bool) -> tuple[Any, Any]:
    """Return (tile, rest) of one mode: the indices of the tiler, and the least index of each tile of the mode.

    A mode without a tiler must be a pair already. With ``round_up``, the tiles may cover more than the mode.

    Raises:
        NoAnswerError: if there is no such division.
    """
    mode_paths = _modes_and_paths(shape, path)
    if tiler is None:
        if not isinstance(shape, tuple) or len(shape) != 2:
            raise NoAnswerError
        tile, rest = (composed(mode, mode_path, None) for mode, mode_path in mode_paths)
        return tile, rest
    if isinstance(tiler, tuple):
        _check_rank(tiler, shape)
        halves = [_split(*mode_path, item, round_up) for mode_path, item in zip(mode_paths, tiler, strict=False)]
        untiled = [composed(mode, mode_path, None) for mode, mode_path in mode_paths[len(tiler) :]]
        return tuple(tile for tile, _ in halves), (*(rest for _, rest in halves), *untiled)
    layout = as_layout(tiler)
    tiles = tiles_of(layout, shape)
    if tiles is None or (not round_up and count(layout.shape) * count(tiles.shape) != count(shape)):
        raise NoAnswerError
    indices, starts = ([place(path, i) for i in values(part)] for part in (layout, tiles))
    return Part(indices, layout.shape), Part(starts)


def _logical(shape: Any, path: tuple[int, ...], tiler: Any, round_up: bool) -> Any:
    if tiler is None:
        return composed(shape, path, None)
    if not isinstance(tiler, tuple):
        return _split(shape, path, tiler, round_up)
    _check_rank(tiler, shape)
    mode_paths = _modes_and_paths(shape, path)
    padded = (*tiler, *(None,) * (len(mode_paths) - len(tiler)))
    return tuple(_logical(*mode_path, item, round_up) for mode_path, item in zip(mode_paths, padded, strict=True))


def logical_divide(a: Any, tiler: Any, round_up: bool = False) -> Plan:
    """Return the plan of a logical divide: each mode is replaced by its tile and rest."""
    return Plan(_logical(a.shape, (), tiler, round_up), coordinate_value(a))


def zipped_divide(a: Any, tiler: Any, round_up: bool = False) -> Plan:
    """Return the plan of a zipped divide: the tiles of all modes, then the rests."""
    if tiler is None:
        raise NoAnswerError
    return Plan(_split(a.shape, (), tiler, round_up), coordinate_value(a))


def tiled_divide(a: Any, tiler: Any, round_up: bool = False) -> Plan:
    """Return the plan of a tiled divide: a zipped divide with the modes of the rest at the top."""
    plan = zipped_divide(a, tiler, round_up)
    tile, rest = plan.tree
    return Plan((tile, *rest) if isinstance(rest, tuple) else Merged((tile, rest)), plan.value)


def flat_divide(a: Any, tiler: Any, round_up: bool = False) -> Plan:
    """Return the plan of a flat divide: a zipped divide with all modes at the top."""
    plan = zipped_divide(a, tiler, round_up)
    tile, rest = plan.tree
    if isinstance(tile, tuple) and isinstance(rest, tuple):
        return Plan((*tile, *rest), plan.value)
    return Plan(Merged(plan.tree), plan.value)  # for a layout tiler, the result does not show where the tile ends


# Slices


def _kept_modes(shape: Any, path: tuple[int, ...], coordinate: Any) -> tuple[list[Part], Any]:
    """Return the parts that a coordinate keeps, and the point that it fixes."""
    if coordinate is None:
        return [composed(shape, path, None)], ()
    if not isinstance(coordinate, tuple):
        return [], place(path, coordinate)
    parts: list[Part] = []
    fixed: Any = ()
    for (mode, mode_path), item in zip(_modes_and_paths(shape, path), coordinate, strict=True):
        kept_parts, point = _kept_modes(mode, mode_path, item)
        parts += kept_parts
        fixed = plus(fixed, point)
    return parts, fixed


def slice_and_offset(coordinate: Any, source: Any) -> Plan:
    """Return the plan of a slice, which keeps whole modes; a slice that lost its swizzle may split their leaves."""
    parts, fixed = _kept_modes(source.shape, (), coordinate)
    slice_parts = [Part(part.points, part.shape, whole=not hasattr(source, "inner")) for part in parts]
    return Plan(slice_parts[0] if coordinate is None else tuple(slice_parts), coordinate_value(source), fixed)


# Slices of a zipped divide


def _local(a: Any, tiler: Any, side: int, coordinate: Any, round_up: bool) -> Plan:
    """Return the plan of a zipped divide by a tuple of integers, fixed at a coordinate of its tile (0) or rest (1)."""
    whole = split(inner(a), tiler, lambda part, shape, stride: divide(part, shape, stride, round_up))
    if whole is None:
        raise NoAnswerError
    halves = [modes(mode) for mode in modes(whole)]
    shapes = [[half[k].shape for half in halves[: len(tiler)]] for k in (0, 1)]
    shapes[1] += [mode.shape for mode in modes(whole)[len(tiler) :]]
    tree = _split(a.shape, (), tiler, round_up)
    fixed: Any = ()
    kept_parts = list(zip(tree[1 - side], shapes[1 - side], strict=True))
    side_parts = zip(tree[side], shapes[side], strict=True)
    padded = (*coordinate, *(None,) * (len(tree[side]) - len(coordinate)))
    free_parts = []
    for (part, shape), item in zip(side_parts, padded, strict=True):
        if item is None:
            free_parts.append((part, shape))
        else:
            fixed = plus(fixed, part.points[item])
    all_parts = [*free_parts, *kept_parts] if side == 0 else [*kept_parts, *free_parts]
    plain = not hasattr(a, "inner")
    return Plan(tuple(Part(part.points, shape, plain) for part, shape in all_parts), coordinate_value(a), fixed)


def projected(items_: tuple[Any, ...], proj: Any) -> tuple[Any, ...]:
    """Return the items for which a projection does not have ``None``."""
    if not isinstance(proj, tuple):
        return items_
    return tuple(item for item, keep in zip(items_, proj, strict=True) if keep is not None)


def local_tile(a: Any, tiler: Any, coordinate: Any, proj: Any = None, round_up: bool = False) -> Plan:
    """Return the plan of one tile of a zipped divide."""
    return _local(a, projected(tiler, proj), 1, projected(coordinate, proj), round_up)


def threads_of(threads: Any, index: int, proj: Any = 1) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Return the extents of the modes of a layout of threads, and every coordinate that it maps to the index."""
    parts = projected(tuple(modes(threads)), proj)
    extents = tuple(count(part.shape) for part in parts)
    image = values(Plain(tuple(part.shape for part in parts), tuple(part.stride for part in parts)))
    return extents, [tuple(digits(i, extents)) for i, value in enumerate(image) if value == index]


def local_partition(a: Any, threads: Any, index: int, proj: Any = 1, round_up: bool = False) -> Plan:
    """Return the plan of the element of one thread in each tile.

    Raises:
        NoAnswerError: if not exactly one thread has the index.
    """
    extents, coordinates = threads_of(as_layout(threads), index, proj)
    if len(coordinates) != 1:
        raise NoAnswerError
    return _local(a, extents, 0, coordinates[0], round_up)


PLANS: dict[str, Callable[..., Plan]] = {
    "composition": composition,
    "with_shape": lambda layout, shape: composition(layout, Plain(shape, compact(shape))),
    "logical_divide": logical_divide,
    "zipped_divide": zipped_divide,
    "tiled_divide": tiled_divide,
    "flat_divide": flat_divide,
    "local_tile": local_tile,
    "local_partition": local_partition,
    "slice_": lambda source, coordinate: slice_and_offset(coordinate, source),
    "slice_and_offset": slice_and_offset,
}


def _beyond(block: Any, tiler: Any) -> Plain:
    """Return the complement of the block that is large enough for the indices of the tiler.

    Raises:
        NoAnswerError: if there is none.
    """
    rest = beyond(block, tiler)
    if rest is None:
        raise NoAnswerError
    return rest


def _tiled_value(block: Any, rest: Any) -> Value:
    """Return the function from a point of a product to its offset."""

    def value(point: Any) -> Any:
        offset = plus(_below(point, 0), after(rest, _below(point, 1)))
        return after(block.outer, plus(block.offset, offset)) if hasattr(block, "inner") else offset

    return value


def _below(point: Any, mode: int) -> Any:
    """Return the index at a mode of a point, or the coordinate of the modes below it."""
    terms = tuple((path[1:], coefficient) for path, coefficient in point if path[0] == mode)
    return sum(coefficient for _, coefficient in terms) if all(path == () for path, _ in terms) else terms


def _block_part(layout: Any) -> Part:
    return Part([place((0,), value) for value in values(layout)], layout.shape)


def logical_product(block: Any, tiler: Any) -> Plan:
    """Return the plan of a logical product: the block, and the copies in its complement; mode by mode for a tuple."""
    if not isinstance(tiler, tuple):
        layout = as_layout(tiler)
        tile = Part([place((1,), index) for index in values(layout)], layout.shape)
        return Plan((_block_part(inner(block)), tile), _tiled_value(block, _beyond(inner(block), layout)))
    return Plan(_by_mode(inner(block), tiler), _tiled_value(block, Plain(1, 0)))


def _by_mode(block: Any, tiler: tuple[Any, ...]) -> Any:
    """Return the tree of a product mode by mode: pairs of a mode and its copies, or the mode alone without a tiler."""
    parts = modes(block)
    if len(tiler) > len(parts):
        raise NoAnswerError
    tree: list[Any] = []
    for k, mode in enumerate(parts):
        item = tiler[k] if k < len(tiler) else None
        if item is None:
            tree.append(_block_part(mode))
        elif isinstance(item, tuple):
            tree.append(_by_mode(mode, item))
        else:
            layout = as_layout(item)
            rest = _beyond(mode, layout)
            tree.append((_block_part(mode), Part([place((0,), after(rest, i)) for i in values(layout)], layout.shape)))
    return tuple(tree)


def zipped_product(block: Any, tiler: Any) -> Plan:
    """Return the plan of a zipped product: the blocks of all modes, then the copies."""
    plan = logical_product(block, tiler)
    if not isinstance(tiler, tuple):
        return plan
    return Plan(_blocks_and_copies(plan.tree, tiler), plan.value)


def _blocks_and_copies(tree: Any, tiler: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the blocks and the copies of a product by mode; modes without a tiler follow the copies."""
    pairs_ = []
    for part, item in zip(tree, tiler, strict=False):
        pair = _unpack(part) if item is None else _blocks_and_copies(part, item) if isinstance(item, tuple) else part
        if len(pair) != 2:
            raise NoAnswerError
        pairs_.append(pair)
    return tuple(a for a, _ in pairs_), (*(b for _, b in pairs_), *tree[len(tiler) :])


def tiled_product(block: Any, tiler: Any) -> Plan:
    """Return the plan of a tiled product: a zipped product with the modes of the copies at the top."""
    plan = zipped_product(block, tiler)
    a, b = plan.tree
    tiles = _unpack(b)
    return Plan((a, *tiles) if tiles else Merged((a, b)), plan.value)


def flat_product(block: Any, tiler: Any) -> Plan:
    """Return the plan of a flat product: a zipped product with all modes at the top."""
    plan = zipped_product(block, tiler)
    a, b = plan.tree
    blocks, tiles = _unpack(a) or (a,), _unpack(b)
    return Plan((*blocks, *tiles) if tiles else Merged((*blocks, b)), plan.value)


def _unpack(tree: Any) -> tuple[Any, ...]:
    """Return the top modes of a part as parts; none for a leaf, which the result may split into several modes."""
    if isinstance(tree, tuple):
        return tree
    if not isinstance(tree.shape, tuple):
        return ()
    parts, weight = [], 1
    for mode in tree.shape:
        parts.append(Part([tree.points[weight * index] for index in range(count(mode))], mode))
        weight *= count(mode)
    return tuple(parts)


# Block and tiler mode by mode


def _side_by_side(block: Any, tiler: Any) -> tuple[list[Part], list[Part], Value]:
    """Return the parts of block and tiler by mode, the lower rank padded with modes of extent 1."""
    plain = inner(block)
    rank = max(len(modes(plain)), len(modes(tiler)))
    blocks = [_block_part(mode) for mode in _padded(plain, rank)]
    tiles = [Part([place((1,), value) for value in values(mode)], mode.shape) for mode in _padded(tiler, rank)]
    return blocks, tiles, _tiled_value(block, _beyond(plain, tiler))


def _padded(layout: Any, rank: int) -> list[Plain]:
    present = modes(layout)
    return present + [Plain(1, 0)] * (rank - len(present))


def blocked_product(block: Any, tiler: Any) -> Plan:
    """Return the plan of a blocked product: in each mode, the block and then the copies."""
    blocks, tiles, value = _side_by_side(block, tiler)
    if not isinstance(inner(block).shape, tuple) and isinstance(tiler.shape, tuple) and len(tiler.shape) == 1:
        # A block with an integer shape has no modes to pair with, so the tiler keeps its tuple.
        tiles = [Part(tiles[0].points, tiler.shape)]
    return Plan(tuple(zip(blocks, tiles, strict=True)), value)


def raked_product(block: Any, tiler: Any) -> Plan:
    """Return the plan of a raked product: in each mode, the copies and then the block."""
    blocks, tiles, value = _side_by_side(block, tiler)
    return Plan(tuple(map(Merged, zip(tiles, blocks, strict=True))), value)


def compact(shape: Any) -> Any:
    """Return the strides of the compact layout of a shape, first mode fastest."""
    extents = leaves(shape)
    return nested_like(iter([prod(extents[:k]) for k in range(len(extents))]), shape)


def grid_of(atom: Any, target: Any, order: Any = None, round_up: bool = False) -> Plain | None:
    """Return the layout of the atoms that fill a target, or None if they do not fill it.

    With ``round_up``, the atoms may cover more than the target.
    """
    extents = [count(mode) for mode in items(target)]
    blocks = [count(mode.shape) for mode in modes(inner(atom))]
    blocks += [1] * (len(extents) - len(blocks))
    ranks = items(order) if order is not None else tuple(range(len(extents)))
    if len(blocks) != len(extents) or sorted(ranks) != list(range(len(extents))):
        return None
    if not round_up and any(extent % block for extent, block in zip(extents, blocks, strict=True)):
        return None
    counts = [-(-extent // block) for extent, block in zip(extents, blocks, strict=True)]
    strides, current = [0] * len(counts), 1
    for k in sorted(range(len(counts)), key=lambda k: ranks[k]):
        strides[k] = current
        current *= counts[k]
    return Plain(tuple(counts), tuple(strides))


def tile_to_shape(atom: Any, target: Any, order: Any = None, round_up: bool = False) -> Plan:
    """Return the plan of a blocked product with the copies that fill the shape, in the given order.

    Raises:
        NoAnswerError: if the atom does not fill the shape.
    """
    grid = grid_of(atom, target, order, round_up)
    if grid is None:
        raise NoAnswerError
    return blocked_product(atom, grid)


PRODUCT_PLANS: dict[str, Callable[..., Plan]] = {
    "logical_product": logical_product,
    "zipped_product": zipped_product,
    "tiled_product": tiled_product,
    "flat_product": flat_product,
    "blocked_product": blocked_product,
    "raked_product": raked_product,
    "tile_to_shape": tile_to_shape,
}
