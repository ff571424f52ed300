"""Operations with one answer by definition: numbers, coordinates, and rearrangements of modes.

Each function takes the operands of the operation of its name and gives the answer, or None where none is right.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from types import SimpleNamespace
from typing import Any

from exact import placed

from layoutalg.laws.points import (
    Composite,
    Plain,
    at_coordinate,
    congruent,
    count,
    digits,
    inner,
    items,
    join,
    leaves,
    modes,
    nested_like,
    rank_of,
    swizzled,
    under,
    values,
)

NOTHING = "None"  # an answer of None, where None itself says that there is no answer


def _rearranged(rearrange: Callable[..., Plain | None]) -> Callable[..., Any]:
    """An operation on a plain layout; a composed layout changes its rightmost layout."""

    def answer(layout: Any, *arguments: Any) -> Any:
        changed = rearrange(inner(layout), *arguments)
        return None if changed is None else under(layout, changed)

    return answer


def _part(layout: Any, mode: Any) -> Plain | None:
    """The mode at an index or a path."""
    for step in items(mode):
        parts = modes(layout)
        if not 0 <= step < len(parts):
            return None
        layout = parts[step]
    return Plain(layout.shape, layout.stride)


def _shape(x: Any, mode: Any = ()) -> Any:
    """The shape of a layout, or a shape itself, or one of their modes."""
    shape = getattr(x, "shape", x)
    part = _part(Plain(shape, shape), mode)
    assert part is not None
    return part.shape


def _select(layout: Any, chosen: Any) -> Plain | None:
    parts = modes(layout)
    return join([parts[k] for k in chosen]) if all(0 <= k < len(parts) for k in chosen) else None


def _flatten(layout: Any) -> Plain:
    if not isinstance(layout.shape, tuple):
        return Plain(layout.shape, layout.stride)
    return Plain(tuple(leaves(layout.shape)), tuple(leaves(layout.stride)))


def _extended(front: bool) -> Callable[..., Plain]:
    def extended(layout: Any, element: Any, up_to_rank: int | None = None) -> Plain:
        parts = modes(layout)
        more = [element] * (1 if up_to_rank is None else max(0, up_to_rank - len(parts)))
        if not more:
            return Plain(layout.shape, layout.stride)
        return join([*more, *parts] if front else [*parts, *more])

    return extended


def _group(layout: Any, begin: int, end: int = -1) -> Plain | None:
    parts = modes(layout)
    last = len(parts) if end == -1 else end
    if not 0 <= begin < last <= len(parts):
        return None
    if not isinstance(layout.shape, tuple):
        return join(parts)  # a leaf is the tuple of itself
    return join([*parts[:begin], join(parts[begin:last]), *parts[last:]])


def _filter_zeros(layout: Any) -> Plain:
    def without(shape: Any, stride: Any) -> Any:
        if isinstance(shape, tuple):
            return tuple(map(without, shape, stride))
        return 1 if stride == 0 else shape

    return Plain(without(layout.shape, layout.stride), layout.stride)


def _dice(layout: Any, dicer: Any) -> Plain | None:
    """The modes at which the dicer has an integer."""
    if not isinstance(dicer, tuple):
        return join([]) if dicer is None else Plain(layout.shape, layout.stride)
    return join(_diced(layout, dicer)) if _weakly_congruent(dicer, layout.shape) else None


def _diced(layout: Any, dicer: Any) -> list[Plain]:
    if isinstance(dicer, tuple):
        return [part for mode, item in zip(modes(layout), dicer, strict=True) for part in _diced(mode, item)]
    return [] if dicer is None else [layout]


# Numbers and truth values


def _cosize(x: Any, mode: Any = ()) -> int:
    """The length of the interval that holds 0 and every offset."""
    image = [0, *values(under(x, _part(inner(x), mode)))]
    return int(max(image) - min(image)) + 1


def _depth(shape: Any) -> int:
    return 1 + max(map(_depth, shape), default=0) if isinstance(shape, tuple) else 0


def _weakly_congruent(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_weakly_congruent, a, b))
    return not isinstance(a, tuple)


def _leading(shape: Any, stride: Any) -> Any:
    """Path of the first leaf of stride 1 and an extent other than 1; an integer at the top, else a tuple."""

    def search(extents: Any, steps: Any, path: tuple[int, ...]) -> tuple[int, ...] | None:
        if isinstance(extents, tuple):
            found = (search(e, s, (*path, k)) for k, (e, s) in enumerate(zip(extents, steps, strict=True)))
            return next((hit for hit in found if hit is not None), None)
        return (path or (0,)) if steps == 1 and extents != 1 else None

    path = search(shape, stride, ())
    return NOTHING if path is None else path[0] if len(path) == 1 else path


# Coordinates


def inside(coordinate: Any, shape: Any) -> bool:
    """Whether a coordinate lies in a shape and fits its profile; ``None`` keeps a mode."""
    if coordinate is None:
        return True
    if isinstance(coordinate, tuple):
        return isinstance(shape, tuple) and len(shape) == len(coordinate) and all(map(inside, coordinate, shape))
    return bool(0 <= coordinate < count(shape))


def _call(layout: Any, coordinate: Any) -> Any:
    if hasattr(layout, "bits"):
        return swizzled(layout, coordinate)
    if not inside(coordinate, layout.shape):
        return None
    value = at_coordinate(layout, coordinate)
    basis = any(hasattr(step, "mode") for step in leaves(inner(layout).stride))
    return _coordinate(value, layout.shape) if basis else value


def _coordinate(point: Any, like: Any, path: tuple[int, ...] = ()) -> Any:
    """A point of a basis layout as a coordinate of the nesting of its codomain."""
    if isinstance(like, tuple):
        return tuple(_coordinate(point, item, (*path, k)) for k, item in enumerate(like))
    return dict(point or ()).get(path, 0)


def _crd2idx(coordinate: Any, where: Any) -> Any:
    if hasattr(where, "shape"):
        return _call(where, coordinate)
    return rank_of(coordinate, where) if inside(coordinate, where) else None


def _idx2crd(index: Any, shape: Any) -> Any:
    if not inside(index, shape):
        return None
    if not isinstance(shape, tuple):
        return index
    parts = index if isinstance(index, tuple) else digits(index, [count(mode) for mode in shape])
    return tuple(map(_idx2crd, parts, shape))


# Layouts made anew


def _make_layout(shape: Any, stride: Any = None) -> Plain:
    """With its strides, or compact, first mode fastest."""
    return Plain(shape, placed(shape, list(range(len(leaves(shape))))) if stride is None else stride)


def _basis(mode: tuple[int, ...]) -> Any:
    return SimpleNamespace(value=1, mode=mode) if mode else 1


def _identity(shape: Any, path: tuple[int, ...] = ()) -> Any:
    if isinstance(shape, tuple):
        return tuple(_identity(mode, (*path, k)) for k, mode in enumerate(shape))
    return _basis(path)


#: The answer of each of these operations, strides of extent-1 modes aside.
def _sum(sign: int) -> Callable[..., Any]:
    """Leaf by leaf; what only one of the tuples has is taken over."""

    def answer(a: Any, b: Any) -> Any:
        if isinstance(a, tuple) and isinstance(b, tuple):
            parts = [answer(x, y) for x, y in zip(a, b, strict=False)]
            if None in parts:
                return None
            return (*parts, *a[len(b) :], *b[len(a) :])
        if isinstance(a, tuple) or isinstance(b, tuple):
            return a if b == 0 else b if a == 0 and sign > 0 else None
        return a + sign * b

    return answer


def _quotients(quotient: Callable[[int, int], int | None], equal_ranks: bool) -> Callable[..., Any]:
    """Mode by mode; an integer divides a tuple from left to right."""

    def answer(a: Any, b: Any) -> Any:
        if not isinstance(a, tuple):
            return quotient(a, prod(leaves(b)))
        if isinstance(b, tuple):
            if len(b) > len(a) or (equal_ranks and len(b) != len(a)):
                return None
            parts = [answer(x, y) for x, y in zip(a, b, strict=False)]
            return None if None in parts else (*parts, *a[len(b) :])
        parts = []
        for mode in a:
            parts.append(answer(mode, b))
            b = quotient(b, count(mode))
            if parts[-1] is None or b is None:
                return None
        return tuple(parts)

    return answer


def _exact_quotient(a: int, b: int) -> int | None:
    return a // b if a % b == 0 else 1 if b % a == 0 else None


def _increment(coordinate: Any, shape: Any) -> Any:
    following = rank_of(coordinate, shape) + 1
    return nested_like(iter(digits(following, leaves(shape))), shape)


TEXTS: dict[str, Callable[..., Any]] = {
    "text": lambda source: source,
    "call": _call,
    "crd2idx": _crd2idx,
    "idx2crd": _idx2crd,
    "size": lambda x, mode=(): count(_shape(x, mode)),
    "rank": lambda x, mode=(): len(items(_shape(x, mode))),
    "depth": lambda x, mode=(): _depth(_shape(x, mode)),
    "product": lambda x: prod(leaves(x)),
    "cosize": _cosize,
    "leading_dim": _leading,
    "is_congruent": lambda a, b: congruent(_shape(a), _shape(b)),
    "is_weakly_congruent": lambda a, b: _weakly_congruent(_shape(a), _shape(b)),
    "get": _rearranged(_part),
    "select": _rearranged(_select),
    "flatten": _rearranged(_flatten),
    "filter_zeros": _rearranged(_filter_zeros),
    "append": _rearranged(_extended(front=False)),
    "prepend": _rearranged(_extended(front=True)),
    "dice": _rearranged(_dice),
    "group_modes": _rearranged(_group),
    "make_layout": _make_layout,
    "concatenate": lambda *layouts: join(layouts),
    "make_identity_layout": lambda shape: Plain(shape, _identity(shape)),
    "make_composed_layout": Composite,
    "E": lambda mode: _basis(items(mode)),
    "tuple_add": _sum(1),
    "tuple_sub": _sum(-1),
    "product_each": lambda shape: tuple(map(count, shape)) if isinstance(shape, tuple) else shape,
    "shape_div": _quotients(_exact_quotient, equal_ranks=True),
    "ceil_div": _quotients(lambda a, b: -(-a // b), equal_ranks=False),
    "increment_coord": _increment,
}
