"""The plans of compositions, divides and slices: what each coordinate of the result stands for, by enumeration.

Points of a plan are coordinates of the operand, ((path, index), ...).

Law: of a composition, coordinate i stands for a(b(i)).

>>> from layoutalg import Layout
>>> from layoutalg.laws.fit import wanted
>>> a, b = Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1))
>>> wanted(composition(a, b)) == [a(b(i)) for i in range(12)]
True
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from layoutalg.laws.fit import Merged, NoAnswer, Part, Plan, Value
from layoutalg.laws.forms import divide, split, tiling
from layoutalg.laws.points import Plain, after, count, digits, inner, items, line, modes, pairs, plus, swizzled, values


def coordinate_value(operand: Any) -> Value:
    """The value of a sum of points, which are coordinates of the operand: ((path, index), ...)."""
    if hasattr(operand, "bits"):  # a swizzle has one mode, the offset itself
        return lambda point: swizzled(operand, dict(point).get((), 0))
    return lambda point: after(operand, point)


def place(path: tuple[int, ...], index: Any) -> Any:
    """An index of the mode at a path, or, for a basis point, of the modes below it."""
    if isinstance(index, tuple):
        return tuple(((*path, *deeper), coefficient) for deeper, coefficient in index)
    return ((path, index),) if index else ()


def as_layout(tiler: Any) -> Any:
    """A tiler that is no tuple as a layout: an integer n is n:1."""
    return tiler if hasattr(tiler, "shape") else Plain(tiler, 1)


def _steps(shape: Any, path: tuple[int, ...]) -> list[tuple[Any, tuple[int, ...]]]:
    """The top modes of a shape with their paths; a leaf is the only mode of its own."""
    return [(mode, (*path, k)) for k, mode in enumerate(items(shape))]


def _short(tiler: tuple[Any, ...], shape: Any) -> None:
    if len(tiler) > len(items(shape)):
        raise NoAnswer


def composed(shape: Any, path: tuple[int, ...], tiler: Any) -> Any:
    """The tree of a composition: each tiler's indices of the mode that it stands at."""
    if tiler is None:
        return Part([place(path, index) for index in range(count(shape))], shape)
    if isinstance(tiler, tuple):
        _short(tiler, shape)
        pairs_ = zip(_steps(shape, path), tiler, strict=False)
        return tuple(composed(mode, where, item) for (mode, where), item in pairs_)
    layout = as_layout(tiler)
    return Part([place(path, index) for index in values(layout)], layout.shape)


def composition(a: Any, b: Any) -> Plan:
    """Coordinate i stands for coordinate b(i) of a."""
    return Plan(composed(getattr(a, "shape", 0), (), b), coordinate_value(a))


# Divides


def _split(shape: Any, path: tuple[int, ...], tiler: Any) -> tuple[Any, Any]:
    """(tile, rest) of one mode: the tiler's indices, and the least index of each of the tiles that fill the mode."""
    if tiler is None:
        raise NoAnswer
    if isinstance(tiler, tuple):
        _short(tiler, shape)
        steps = _steps(shape, path)
        halves = [_split(mode, where, item) for (mode, where), item in zip(steps, tiler, strict=False)]
        kept = [composed(mode, where, None) for mode, where in steps[len(tiler) :]]
        return tuple(tile for tile, _ in halves), (*(rest for _, rest in halves), *kept)
    layout = as_layout(tiler)
    indices, rest = values(layout), tiling(pairs(layout), count(shape))
    if rest is None or len(indices) * prod(s for s, _ in rest) != count(shape):
        raise NoAnswer
    starts = [line(rest, index) for index in range(prod(s for s, _ in rest))]
    return Part([place(path, i) for i in indices], layout.shape), Part([place(path, i) for i in starts])


def _logical(shape: Any, path: tuple[int, ...], tiler: Any) -> Any:
    if tiler is None:
        return composed(shape, path, None)
    if not isinstance(tiler, tuple):
        return _split(shape, path, tiler)
    _short(tiler, shape)
    steps = _steps(shape, path)
    padded = (*tiler, *(None,) * (len(steps) - len(tiler)))
    return tuple(_logical(mode, where, item) for (mode, where), item in zip(steps, padded, strict=True))


def logical_divide(a: Any, tiler: Any) -> Plan:
    """The tile and the rest of each mode, in its place."""
    return Plan(_logical(a.shape, (), tiler), coordinate_value(a))


def zipped_divide(a: Any, tiler: Any) -> Plan:
    """The tiles of all modes together, then the rests."""
    return Plan(_split(a.shape, (), tiler), coordinate_value(a))


def tiled_divide(a: Any, tiler: Any) -> Plan:
    """Zipped, with the modes of the rest apart."""
    plan = zipped_divide(a, tiler)
    tile, rest = plan.tree
    return Plan((tile, *rest) if isinstance(rest, tuple) else Merged((tile, rest)), plan.value)


def flat_divide(a: Any, tiler: Any) -> Plan:
    """Zipped, with all modes apart."""
    plan = zipped_divide(a, tiler)
    tile, rest = plan.tree
    if isinstance(tile, tuple) and isinstance(rest, tuple):
        return Plan((*tile, *rest), plan.value)
    return Plan(Merged(plan.tree), plan.value)  # a layout tiler: where the tile ends is not written in the result


# Slices


def _kept(shape: Any, path: tuple[int, ...], coordinate: Any) -> tuple[list[Part], Any]:
    """The parts a coordinate keeps, and the point it fixes."""
    if coordinate is None:
        return [composed(shape, path, None)], ()
    if not isinstance(coordinate, tuple):
        return [], place(path, coordinate)
    parts: list[Part] = []
    fixed: Any = ()
    for (mode, where), item in zip(_steps(shape, path), coordinate, strict=True):
        more, point = _kept(mode, where, item)
        parts += more
        fixed = plus(fixed, point)
    return parts, fixed


def slice_and_offset(coordinate: Any, source: Any) -> Plan:
    """A slice keeps modes as they are; only one that has left its swizzle behind may split their leaves."""
    parts, fixed = _kept(source.shape, (), coordinate)
    kept = [Part(part.points, part.shape, whole=not hasattr(source, "inner")) for part in parts]
    return Plan(kept[0] if coordinate is None else tuple(kept), coordinate_value(source), fixed)


# A slice of a division: the parts of a zipped divide, in the shapes that its modes have


def _local(a: Any, tiler: Any, side: int, coordinate: Any) -> Plan:
    """The zipped divide of ``a`` by a tuple of integers, fixed at a coordinate of its tile (0) or of its rest (1)."""
    whole = split(inner(a), tiler, divide)
    if whole is None:
        raise NoAnswer
    halves = [modes(mode) for mode in modes(whole)]
    shapes = [[half[k].shape for half in halves[: len(tiler)]] for k in (0, 1)]
    shapes[1] += [mode.shape for mode in modes(whole)[len(tiler) :]]
    tree = _split(a.shape, (), tiler)
    fixed: Any = ()
    kept = list(zip(tree[1 - side], shapes[1 - side], strict=True))
    here = zip(tree[side], shapes[side], strict=True)
    padded = (*coordinate, *(None,) * (len(tree[side]) - len(coordinate)))
    left = []
    for (part, shape), item in zip(here, padded, strict=True):
        if item is None:
            left.append((part, shape))
        else:
            fixed = plus(fixed, part.points[item])
    ordered = [*left, *kept] if side == 0 else [*kept, *left]
    plain = not hasattr(a, "inner")
    return Plan(tuple(Part(part.points, shape, plain) for part, shape in ordered), coordinate_value(a), fixed)


def projected(items_: tuple[Any, ...], proj: Any) -> tuple[Any, ...]:
    """The items that a projection keeps: those where it has no ``None``."""
    if not isinstance(proj, tuple):
        return items_
    return tuple(item for item, keep in zip(items_, proj, strict=True) if keep is not None)


def local_tile(a: Any, tiler: Any, coordinate: Any, proj: Any = None) -> Plan:
    """One tile of a zipped divide."""
    return _local(a, projected(tiler, proj), 1, projected(coordinate, proj))


def threads_of(threads: Any, index: int, proj: Any = 1) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """The extents of a layout of threads by mode, and every coordinate that has the index."""
    parts = projected(tuple(modes(threads)), proj)
    extents = tuple(count(part.shape) for part in parts)
    image = values(Plain(tuple(part.shape for part in parts), tuple(part.stride for part in parts)))
    return extents, [tuple(digits(i, extents)) for i, value in enumerate(image) if value == index]


def local_partition(a: Any, threads: Any, index: int, proj: Any = 1) -> Plan:
    """One thread's element of each tile."""
    extents, found = threads_of(as_layout(threads), index, proj)
    if len(found) != 1:
        raise NoAnswer
    return _local(a, extents, 0, found[0])


PLANS: dict[str, Callable[..., Plan]] = {
    "composition": composition,
    "logical_divide": logical_divide,
    "zipped_divide": zipped_divide,
    "tiled_divide": tiled_divide,
    "flat_divide": flat_divide,
    "local_tile": local_tile,
    "local_partition": local_partition,
    "slice_": lambda source, coordinate: slice_and_offset(coordinate, source),
    "slice_and_offset": slice_and_offset,
}
