"""The plan of every operation that rearranges, divides or multiplies: definitions, by enumeration.

Points of a plan are coordinates of the operand, ((path, index), ...); for products they are offsets of the block at
path (0,) and indices into its complement at path (1,).
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import judge as J
from support_oracle_fit import Merged, NoAnswer, Part, Plan, Value, has_answer
from support_oracle_laws import modes

from descriptors.oracle.reader import Affine, Composed, read


def _under(operand: Any) -> Value:
    """The value of a sum of points, which are coordinates of the operand: ((path, index), ...)."""
    return lambda point: J.after(operand, point)


def _at(path: tuple[int, ...], index: Any) -> Any:
    """An index of the mode at a path, or, for a basis point, of the modes below it."""
    if isinstance(index, tuple):
        return tuple(((*path, *deeper), coefficient) for deeper, coefficient in index)
    return ((path, index),) if index else ()


def _tile(tiler: Any) -> tuple[list[Any], Any, list[Any]]:
    """Indices, shape and flat modes of a tiler that is an integer or the text of a layout."""
    layout = Affine(tiler, 1) if isinstance(tiler, int) else read(tiler)
    return J.values(layout), layout.shape, J.pairs(layout)


def _composed_part(shape: Any, path: tuple[int, ...], tiler: Any) -> Any:
    match tiler:
        case None:
            return Part([_at(path, index) for index in range(J.count(shape))], shape)
        case tuple():
            if not path:
                shape = modes(shape)
            if not isinstance(shape, tuple) or len(tiler) > len(shape):
                raise NoAnswer
            return tuple(_composed_part(shape[k], (*path, k), item) for k, item in enumerate(tiler))
    indices, refined, _ = _tile(tiler)
    return Part([_at(path, index) for index in indices], refined)


def _plan_composition(a: str, b: Any) -> Plan:
    operand = read(a)
    return Plan(_composed_part(operand.shape, (), b), _under(_by_modes(operand, b)))


def _by_modes(operand: Any, tiler: Any) -> Any:
    """The operand with one mode at least, where a tiler addresses modes."""
    if not isinstance(tiler, tuple) or isinstance(operand.shape, tuple):
        return operand
    if isinstance(operand, Composed):
        return Composed(operand.outer, operand.offset, _by_modes(operand.inner, tiler))
    return Affine((operand.shape,), (operand.stride,))


def _split(shape: Any, path: tuple[int, ...], tiler: Any) -> tuple[Any, Any]:
    """(tile, rest) of one mode: the tiler's indices, and the least index of each of the tiles that fill the mode."""
    if tiler is None:
        raise NoAnswer
    if isinstance(tiler, tuple):
        if not path:
            shape = modes(shape)
        if not isinstance(shape, tuple) or len(tiler) > len(shape):
            raise NoAnswer
        split = [_split(shape[k], (*path, k), item) for k, item in enumerate(tiler)]
        kept = [_composed_part(shape[k], (*path, k), None) for k in range(len(tiler), len(shape))]
        return tuple(tile for tile, _ in split), (*(rest for _, rest in split), *kept)
    indices, refined, parts = _tile(tiler)
    rest = J.complement(parts, J.count(shape))
    if rest is None or len(indices) * prod(s for s, _ in rest) != J.count(shape):
        raise NoAnswer
    starts = [J.line(rest, index) for index in range(prod(s for s, _ in rest))]
    return Part([_at(path, i) for i in indices], refined), Part([_at(path, i) for i in starts])


def _logical(shape: Any, path: tuple[int, ...], tiler: Any) -> Any:
    if tiler is None:
        return _composed_part(shape, path, None)
    if not isinstance(tiler, tuple):
        return _split(shape, path, tiler)
    if not path:
        shape = modes(shape)
    if not isinstance(shape, tuple) or len(tiler) > len(shape):
        raise NoAnswer
    padded = (*tiler, *(None,) * (len(shape) - len(tiler)))
    return tuple(_logical(shape[k], (*path, k), item) for k, item in enumerate(padded))


def _plan_logical_divide(a: str, tiler: Any) -> Plan:
    operand = read(a)
    return Plan(_logical(operand.shape, (), tiler), _under(_by_modes(operand, tiler)))


def _plan_zipped_divide(a: str, tiler: Any) -> Plan:
    operand = read(a)
    return Plan(_split(operand.shape, (), tiler), _under(_by_modes(operand, tiler)))


def _plan_tiled_divide(a: str, tiler: Any) -> Plan:
    plan = _plan_zipped_divide(a, tiler)
    tile, rest = plan.tree
    return Plan((tile, *rest) if isinstance(rest, tuple) else Merged((tile, rest)), plan.value)


def _plan_flat_divide(a: str, tiler: Any) -> Plan:
    plan = _plan_zipped_divide(a, tiler)
    tile, rest = plan.tree
    if isinstance(tile, tuple) and isinstance(rest, tuple):
        return Plan((*tile, *rest), plan.value)
    return Plan(Merged(plan.tree), plan.value)  # a layout tiler: where the tile ends is not written in the result


# Slices


def _kept(shape: Any, path: tuple[int, ...], coordinate: Any) -> tuple[list[Part], Any]:
    """The parts a coordinate keeps, and the point it fixes."""
    if coordinate is None:
        return [_composed_part(shape, path, None)], ()
    if not isinstance(coordinate, tuple):
        return [], _at(path, coordinate)
    parts: list[Part] = []
    fixed: Any = ()
    for k, (item, mode) in enumerate(zip(coordinate, shape, strict=True)):
        more, point = _kept(mode, (*path, k), item)
        parts += more
        fixed = J.plus(fixed, point)
    return parts, fixed


def _plan_slice(coordinate: Any, source: str) -> Plan:
    operand = read(source)
    parts, fixed = _kept(operand.shape, (), coordinate)
    return Plan(parts[0] if coordinate is None else tuple(parts), _under(operand), fixed)


def _diced(shape: Any, path: tuple[int, ...], dicer: Any) -> list[Part]:
    if isinstance(dicer, tuple):
        return [part for k, item in enumerate(dicer) for part in _diced(shape[k], (*path, k), item)]
    return [] if dicer is None else [_composed_part(shape, path, None)]


def _plan_dice(source: str, dicer: Any) -> Plan:
    operand = read(source)
    parts = _diced(operand.shape, (), dicer)
    return Plan(tuple(parts) if isinstance(dicer, tuple) or dicer is None else parts[0], _under(operand))


def _divided(a: str, tiler: Any) -> Plan:
    """The division that a local tile or partition is a slice of: it must exist as a whole."""
    if not has_answer(_plan_zipped_divide(a.rpartition(" o ")[2], tiler)):
        raise NoAnswer
    return _plan_zipped_divide(a, tiler)


def _plan_local_tile(a: str, tiler: Any, coordinate: Any, proj: Any = None) -> Plan:
    if proj is not None:
        kept = [k for k, item in enumerate(proj) if item is not None]
        tiler, coordinate = tuple(tiler[k] for k in kept), tuple(coordinate[k] for k in kept)
    plan = _divided(a, tiler)
    tile, rest = plan.tree
    kept_rest = [part for part, item in zip(rest, coordinate, strict=True) if item is None]
    fixed: Any = ()
    for part, item in zip(rest, coordinate, strict=True):
        if item is not None:
            fixed = J.plus(fixed, part.points[item])
    return Plan((*tile, *kept_rest), plan.value, fixed)


def _plan_local_partition(a: str, tiler: str, index: int, proj: Any = 1) -> Plan:
    threads = read(tiler)
    pairs = list(zip(modes(threads.shape), modes(threads.stride), strict=True))
    if isinstance(proj, tuple):
        pairs = [pair for pair, item in zip(pairs, proj, strict=True) if item is not None]
    plan = _divided(a, tuple(extent for extent, _ in pairs))
    tile, rest = plan.tree
    fixed: Any = ()
    for part, (extent, stride) in zip(tile, pairs, strict=True):
        fixed = J.plus(fixed, part.points[index // stride % extent if stride else 0])
    return Plan(rest, plan.value, fixed)


# Products


def _beyond(block: Any, tiler_parts: list[Any]) -> list[Any]:
    """The complement of the block that the tiler's indices run through."""
    inner = block.inner if isinstance(block, Composed) else block
    reach = 1 + sum((extent - 1) * abs(stride) for extent, stride in tiler_parts)
    rest = J.complement(J.pairs(inner), J.count(inner.shape) * reach)
    if rest is None:
        raise NoAnswer
    return rest


def _tiled_value(block: Any, rest: list[Any]) -> Value:
    def value(point: Any) -> Any:
        terms = dict(point)
        offset = J.plus(terms.get((0,), 0), J.line(rest, terms.get((1,), 0)))
        return J.after(block.outer, J.plus(block.offset, offset)) if isinstance(block, Composed) else offset

    return value


def _block_part(layout: Any) -> Part:
    return Part([_at((0,), value) for value in J.values(layout)], layout.shape)


def _plan_logical_product(block: str, tiler: Any) -> Plan:
    a = read(block)
    inner = a.inner if isinstance(a, Composed) else a
    if not isinstance(tiler, tuple):
        indices, shape, parts = _tile(tiler)
        tile = Part([_at((1,), index) for index in indices], shape)
        return Plan((_block_part(inner), tile), _tiled_value(a, _beyond(a, parts)))
    shapes, strides = modes(inner.shape), modes(inner.stride)
    if len(tiler) > len(shapes):
        raise NoAnswer
    tree = []
    for k, (shape, stride) in enumerate(zip(shapes, strides, strict=True)):
        mode, item = Affine(shape, stride), tiler[k] if k < len(tiler) else None
        if item is None:
            tree.append(_block_part(mode))
            continue
        indices, refined, parts = _tile(item)
        rest = _beyond(mode, parts)
        tree.append((_block_part(mode), Part([_at((0,), J.line(rest, index)) for index in indices], refined)))
    return Plan(tuple(tree), _tiled_value(a, []))


def _plan_zipped_product(block: str, tiler: Any) -> Plan:
    plan = _plan_logical_product(block, tiler)
    if not isinstance(tiler, tuple):
        return plan
    pairs = [item if isinstance(item, tuple) else (item, None) for item in plan.tree]
    return Plan((tuple(a for a, _ in pairs), tuple(b for _, b in pairs if b)), plan.value)


def _plan_tiled_product(block: str, tiler: Any) -> Plan:
    plan = _plan_zipped_product(block, tiler)
    a, b = plan.tree
    tiles = _modes_of(b)
    return Plan((a, *tiles) if tiles else Merged((a, b)), plan.value)


def _plan_flat_product(block: str, tiler: Any) -> Plan:
    plan = _plan_zipped_product(block, tiler)
    a, b = plan.tree
    blocks, tiles = _modes_of(a) or (a,), _modes_of(b)
    return Plan((*blocks, *tiles) if tiles else Merged((*blocks, b)), plan.value)


def _modes_of(tree: Any) -> tuple[Any, ...]:
    """The top modes of a part, one part each; none for a leaf, which the result may split into several modes."""
    if isinstance(tree, tuple):
        return tree
    if not isinstance(tree.shape, tuple):
        return ()
    parts, weight = [], 1
    for extent in map(J.count, tree.shape):
        parts.append(Part([tree.points[weight * index] for index in range(extent)]))
        weight *= extent
    return tuple(Part(part.points, shape) for part, shape in zip(parts, tree.shape, strict=True))


def _blocks(block: str, tiler: Any) -> tuple[list[Part], list[Part], Value]:
    """Parts of block and tiler by mode, the shorter padded with modes of extent 1."""
    a = read(block)
    inner = a.inner if isinstance(a, Composed) else a
    parts = [(s, d) for s, d in zip(J.leaves(tiler.shape), J.leaves(tiler.stride), strict=True)]
    rank = max(len(modes(inner.shape)), len(modes(tiler.shape)))
    blocks = [_block_part(mode) for mode in _padded(inner, rank)]
    tiles = [Part([_at((1,), value) for value in J.values(mode)], mode.shape) for mode in _padded(tiler, rank)]
    return blocks, tiles, _tiled_value(a, _beyond(a, parts))


def _padded(layout: Any, rank: int) -> list[Affine]:
    held = [Affine(s, d) for s, d in zip(modes(layout.shape), modes(layout.stride), strict=True)]
    return held + [Affine(1, 0)] * (rank - len(held))


def _plan_blocked_product(block: str, tiler: str) -> Plan:
    blocks, tiles, value = _blocks(block, read(tiler))
    return Plan(tuple(zip(blocks, tiles, strict=True)), value)


def _plan_raked_product(block: str, tiler: str) -> Plan:
    blocks, tiles, value = _blocks(block, read(tiler))
    return Plan(tuple(map(Merged, zip(tiles, blocks, strict=True))), value)


def _plan_tile_to_shape(atom: str, target: Any, order: Any = None) -> Plan:
    extents = [J.count(mode) for mode in modes(target)]
    held = [J.count(mode) for mode in modes(read(atom).shape)]
    if len(held) > len(extents):
        raise NoAnswer
    held += [1] * (len(extents) - len(held))
    if any(extent % block for extent, block in zip(extents, held, strict=True)):
        raise NoAnswer
    ranks = list(modes(order)) if order is not None else list(range(len(extents)))
    counts = [extent // block for extent, block in zip(extents, held, strict=True)]
    strides, current = [0] * len(counts), 1
    for k in sorted(range(len(counts)), key=lambda k: (ranks[k], k)):
        strides[k] = current
        current *= counts[k]
    blocks, tiles, value = _blocks(atom, Affine(tuple(counts), tuple(strides)))
    return Plan(tuple(zip(blocks, tiles, strict=True)), value)


PLANS: dict[str, Callable[..., Plan]] = {
    "composition": _plan_composition,
    "logical_divide": _plan_logical_divide,
    "zipped_divide": _plan_zipped_divide,
    "tiled_divide": _plan_tiled_divide,
    "flat_divide": _plan_flat_divide,
    "logical_product": _plan_logical_product,
    "zipped_product": _plan_zipped_product,
    "tiled_product": _plan_tiled_product,
    "flat_product": _plan_flat_product,
    "blocked_product": _plan_blocked_product,
    "raked_product": _plan_raked_product,
    "tile_to_shape": _plan_tile_to_shape,
    "local_tile": _plan_local_tile,
    "local_partition": _plan_local_partition,
    "slice_": lambda source, coordinate: _plan_slice(coordinate, source),
    "slice_and_offset": _plan_slice,
    "dice": _plan_dice,
}
