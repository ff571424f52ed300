"""The plans of products: points are offsets of the block at path (0,) and indices into its complement at path (1,).

Law: the copies of a block lie apart.

>>> from layoutalg import Layout
>>> from layoutalg.laws.fit import wanted
>>> sorted(wanted(logical_product(Layout(4, 2), Layout(6)))) == list(range(24))
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layoutalg.laws.fit import Merged, NoAnswer, Part, Plan, Value
from layoutalg.laws.forms import beyond
from layoutalg.laws.plans import as_layout, place
from layoutalg.laws.points import Plain, after, count, inner, items, line, modes, plus, values


def _beyond(block: Any, tiler: Any) -> list[Any]:
    """The complement of the block that the tiler's indices run through."""
    rest = beyond(block, tiler)
    if rest is None:
        raise NoAnswer
    return rest


def _tiled_value(block: Any, rest: list[Any]) -> Value:
    def value(point: Any) -> Any:
        terms = dict(point)
        offset = plus(terms.get((0,), 0), line(rest, terms.get((1,), 0)))
        return after(block.outer, plus(block.offset, offset)) if hasattr(block, "inner") else offset

    return value


def _block_part(layout: Any) -> Part:
    return Part([place((0,), value) for value in values(layout)], layout.shape)


def logical_product(block: Any, tiler: Any) -> Plan:
    """The block, and its copies in the complement where the tiler points; mode by mode for a tuple."""
    if not isinstance(tiler, tuple):
        layout = as_layout(tiler)
        tile = Part([place((1,), index) for index in values(layout)], layout.shape)
        return Plan((_block_part(inner(block)), tile), _tiled_value(block, _beyond(inner(block), layout)))
    return Plan(_by_mode(inner(block), tiler), _tiled_value(block, []))


def _by_mode(block: Any, tiler: tuple[Any, ...]) -> Any:
    """The tree of a product mode by mode: pairs of a mode and its copies, alone where there are none."""
    parts = modes(block)
    if len(tiler) > len(parts):
        raise NoAnswer
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
            tree.append((_block_part(mode), Part([place((0,), line(rest, i)) for i in values(layout)], layout.shape)))
    return tuple(tree)


def zipped_product(block: Any, tiler: Any) -> Plan:
    """The blocks of all modes together, then the copies."""
    plan = logical_product(block, tiler)
    if not isinstance(tiler, tuple):
        return plan
    return Plan(_gathered(plan.tree, tiler), plan.value)


def _gathered(tree: Any, tiler: tuple[Any, ...]) -> tuple[Any, Any]:
    """The blocks and the copies of a product by mode; modes without a tiler follow the copies."""
    pairs_ = []
    for part, item in zip(tree, tiler, strict=False):
        if item is None:
            raise NoAnswer
        pairs_.append(_gathered(part, item) if isinstance(item, tuple) else part)
    return tuple(a for a, _ in pairs_), (*(b for _, b in pairs_), *tree[len(tiler) :])


def tiled_product(block: Any, tiler: Any) -> Plan:
    """Zipped, with the modes of the copies apart."""
    plan = zipped_product(block, tiler)
    a, b = plan.tree
    tiles = _opened(b)
    return Plan((a, *tiles) if tiles else Merged((a, b)), plan.value)


def flat_product(block: Any, tiler: Any) -> Plan:
    """Zipped, with all modes apart."""
    plan = zipped_product(block, tiler)
    a, b = plan.tree
    blocks, tiles = _opened(a) or (a,), _opened(b)
    return Plan((*blocks, *tiles) if tiles else Merged((*blocks, b)), plan.value)


def _opened(tree: Any) -> tuple[Any, ...]:
    """The top modes of a part, one part each; none for a leaf, which the result may split into several modes."""
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
    """Parts of block and tiler by mode, the shorter padded with modes of extent 1."""
    plain = inner(block)
    rank = max(len(modes(plain)), len(modes(tiler)))
    blocks = [_block_part(mode) for mode in _padded(plain, rank)]
    tiles = [Part([place((1,), value) for value in values(mode)], mode.shape) for mode in _padded(tiler, rank)]
    return blocks, tiles, _tiled_value(block, _beyond(plain, tiler))


def _padded(layout: Any, rank: int) -> list[Plain]:
    held = modes(layout)
    return held + [Plain(1, 0)] * (rank - len(held))


def blocked_product(block: Any, tiler: Any) -> Plan:
    """Block and copies side by side in each mode, the block first."""
    blocks, tiles, value = _side_by_side(block, tiler)
    if not isinstance(inner(block).shape, tuple) and isinstance(tiler.shape, tuple) and len(tiler.shape) == 1:
        # A block that is no tuple has no modes to pair with: the tiler goes beside it as it stands.
        tiles = [Part(tiles[0].points, tiler.shape)]
    return Plan(tuple(zip(blocks, tiles, strict=True)), value)


def raked_product(block: Any, tiler: Any) -> Plan:
    """Block and copies side by side in each mode, the copies first."""
    blocks, tiles, value = _side_by_side(block, tiler)
    return Plan(tuple(map(Merged, zip(tiles, blocks, strict=True))), value)


def grid_of(atom: Any, target: Any, order: Any = None) -> Plain | None:
    """How many atoms along each mode of the target and in which order; None where they do not fill it."""
    extents = [count(mode) for mode in items(target)]
    held = [count(mode.shape) for mode in modes(inner(atom))]
    held += [1] * (len(extents) - len(held))
    if len(held) != len(extents) or any(extent % block for extent, block in zip(extents, held, strict=True)):
        return None
    ranks = items(order) if order is not None else tuple(range(len(extents)))
    counts = [extent // block for extent, block in zip(extents, held, strict=True)]
    strides, current = [0] * len(counts), 1
    for k in sorted(range(len(counts)), key=lambda k: (ranks[k], k)):
        strides[k] = current
        current *= counts[k]
    return Plain(tuple(counts), tuple(strides))


def tile_to_shape(atom: Any, target: Any, order: Any = None) -> Plan:
    """A blocked product by as many copies as fill the shape, stacked in an order."""
    grid = grid_of(atom, target, order)
    if grid is None:
        raise NoAnswer
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
