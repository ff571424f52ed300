"""The one right answer of each operation that has one, found by enumeration.

Each function takes the operands of the operation of its name and gives the answer in comparable form (notation with the
strides of extent-1 modes written 0, or an integer or tuple), or None where none is right. Built on ``judge`` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import judge
from judge import Plain, count, leaves

# Layouts through their parts --------------------------------------------------------------------------------------


def inner(layout: Any) -> Any:
    """The layout that carries the domain."""
    return layout.inner if hasattr(layout, "inner") else layout


def modes(layout: Any) -> list[Plain]:
    """The top-level modes of a plain layout."""
    if not isinstance(layout.shape, tuple):
        return [Plain(layout.shape, layout.stride)]
    return [Plain(s, d) for s, d in zip(layout.shape, layout.stride, strict=True)]


def join(parts: list[Any]) -> Plain:
    """Layouts as the modes of one."""
    return Plain(tuple(part.shape for part in parts), tuple(part.stride for part in parts))


def text(layout: Any, result: Any) -> str | None:
    """Notation of a result for the domain of ``layout``, with the swizzle that comes after it."""
    if result is None:
        return None
    plain = judge.plain_text(*result) if isinstance(result, tuple) else judge.plain_text(result.shape, result.stride)
    if hasattr(layout, "inner"):
        return f"{judge.normal(layout.outer)} o {layout.offset} o {plain}"
    return plain


def coalesced(layout: Any) -> Plain:
    return Plain(*judge.written(judge.form(judge.values(layout)) or []))


# Operations with one right answer, found by enumeration -------------------------------------------------------------


def exact_coalesce(layout: Any, profile: Any = None) -> str | None:
    def by_profile(part: Any, wanted: Any) -> Plain | None:
        if not isinstance(wanted, tuple):
            return coalesced(part)
        parts = modes(part)
        if len(wanted) > len(parts):
            return None
        done = [by_profile(mode, want) for mode, want in zip(parts, wanted, strict=False)]
        return None if None in done else join([*done, *parts[len(wanted) :]])

    return text(layout, by_profile(inner(layout), profile))


def exact_filter(layout: Any) -> str | None:
    moving = [(s, d) for s, d in judge.pairs(inner(layout)) if d != 0]
    return text(layout, coalesced(Plain(tuple(s for s, _ in moving), tuple(d for _, d in moving))))


def exact_composition(a: Any, b: Any) -> str | None:
    if hasattr(a, "bits") or hasattr(b, "inner"):  # kept as it is written
        return f"{judge.normal(a)} o 0 o {judge.normal(b)}"
    return text(a, composed(inner(a), b))


def composed(a: Any, b: Any) -> Any:
    """composition of a plain layout by a layout or a tiler: a Plain, or None."""
    if b is None:
        return a
    if isinstance(b, tuple):
        if len(b) > len(modes(a)):
            return None
        parts = [composed(mode, tile) for mode, tile in zip(modes(a), b, strict=False)]
        return None if None in parts else join(parts)
    tile = b if hasattr(b, "shape") else Plain(b, 1)
    result = judge.composition(a, tile.shape, tile.stride)
    return None if result is None else Plain(*result)


def exact_complement(layout: Any, cotarget: Any = 1) -> str | None:
    result = judge.complement(judge.pairs(layout), count(cotarget.shape if hasattr(cotarget, "shape") else cotarget))
    return None if result is None else judge.plain_text(*judge.written(result))


Split = Callable[[Any, Any, Any], "tuple[Any, Any] | None"]


def split(target: Any, tiler: Any, by: Split) -> Any:
    """A logical divide or product of a plain layout: a Plain, or None."""
    if tiler is None:
        return target
    if isinstance(tiler, tuple):
        if len(tiler) > len(modes(target)):
            return None
        parts = [split(mode, tile, by) for mode, tile in zip(modes(target), tiler, strict=False)]
        return None if None in parts else join([*parts, *modes(target)[len(tiler) :]])
    tile = tiler if hasattr(tiler, "shape") else Plain(tiler, 1)
    result = by(target, tile.shape, tile.stride)
    return None if result is None else Plain(*result)


def gathered(parts: Plain, tiler: Any) -> tuple[Plain, Plain] | None:
    """The firsts and the seconds of a by-mode split; None where a mode was not split."""
    if tiler is None:
        return None
    if not isinstance(tiler, tuple):
        return tuple(modes(parts))  # type: ignore[return-value]
    pairs = [gathered(mode, tile) for mode, tile in zip(modes(parts), tiler, strict=False)]
    if None in pairs:
        return None
    rest = modes(parts)[len(tiler) :]
    return join([pair[0] for pair in pairs if pair]), join([*[pair[1] for pair in pairs if pair], *rest])


def opened(part: Plain) -> list[Plain]:
    return modes(part) if isinstance(part.shape, tuple) else [part]


def arranged(by: Split, arrange: Callable[[Plain, Plain], Plain] | None) -> Callable[..., str | None]:
    def exact(target: Any, tiler: Any) -> str | None:
        parts = split(inner(target), tiler, by)
        if parts is None or arrange is None:
            return text(target, parts)
        pair = gathered(parts, tiler)
        return None if pair is None else text(target, arrange(*pair))

    return exact


def zipped(tile: Plain, rest: Plain) -> Plain:
    return join([tile, rest])


def tiled(tile: Plain, rest: Plain) -> Plain:
    return join([tile, *opened(rest)])


def flat(tile: Plain, rest: Plain) -> Plain:
    return join([*opened(tile), *opened(rest)])


def exact_append(layout: Any, extra: Any, up_to: int | None = None) -> str | None:
    parts = modes(inner(layout))
    return text(layout, join([*parts, *[extra] * (1 if up_to is None else max(0, up_to - len(parts)))]))


def exact_prepend(layout: Any, extra: Any) -> str | None:
    return text(layout, join([extra, *modes(inner(layout))]))


def exact_group_modes(layout: Any, begin: int, end: int) -> str | None:
    parts = modes(inner(layout))
    if not 0 <= begin < end <= len(parts):
        return None
    if not isinstance(layout.shape, tuple):  # an integer has no modes to group, and becomes a tuple of one
        return text(layout, join(parts))
    return text(layout, join([*parts[:begin], join(parts[begin:end]), *parts[end:]]))


def exact_select(layout: Any, wanted: tuple[int, ...]) -> str | None:
    parts = modes(inner(layout))
    if not all(0 <= mode < len(parts) for mode in wanted):
        return None
    return text(layout, join([parts[mode] for mode in wanted]))


def exact_flatten(layout: Any) -> str | None:
    part = inner(layout)
    if not isinstance(part.shape, tuple):
        return text(layout, part)
    return text(layout, Plain(tuple(leaves(part.shape)), tuple(leaves(part.stride))))


def exact_filter_zeros(layout: Any) -> str | None:
    def without(shape: Any, stride: Any) -> Any:
        if isinstance(shape, tuple):
            return tuple(map(without, shape, stride))
        return 1 if stride == 0 else shape

    part = inner(layout)
    return text(layout, Plain(without(part.shape, part.stride), part.stride))


def exact_dice(layout: Any, dicer: Any) -> str | None:
    def fixed(coordinate: Any, part: Plain) -> list[Plain]:
        if not isinstance(coordinate, tuple):
            return [] if coordinate is None else [part]
        return [kept for c, mode in zip(coordinate, modes(part), strict=True) for kept in fixed(c, mode)]

    return text(layout, join(fixed(dicer, inner(layout))))


def exact_make_ordered_layout(shape: Any, order: Any) -> str | None:
    keys = _spread(order, shape)
    extents = leaves(shape)
    strides = [0] * len(extents)
    current = 1
    for mode in sorted(range(len(extents)), key=lambda mode: (keys[mode], mode)):
        strides[mode] = current
        current *= extents[mode]
    return judge.plain_text(shape, _like(iter(strides), shape))


def _spread(order: Any, shape: Any) -> list[int]:
    if isinstance(order, tuple):
        return [key for part, mode in zip(order, shape, strict=True) for key in _spread(part, mode)]
    return [order] * len(leaves(shape))


def _like(items: Any, profile: Any) -> Any:
    return tuple(_like(items, part) for part in profile) if isinstance(profile, tuple) else next(items)


def exact_make_layout_like(layout: Any) -> str | None:
    # Sorting by the strides themselves; the modes of stride 0 stay out.
    part = inner(layout)
    extents, strides = leaves(part.shape), leaves(part.stride)
    result = [0] * len(extents)
    current = 1
    for mode in sorted(
        (m for m in range(len(extents)) if strides[m] != 0 and extents[m] != 1), key=lambda m: (strides[m], m)
    ):
        result[mode] = current
        current *= extents[mode]
    return judge.plain_text(part.shape, _like(iter(result), part.shape))


def exact_call(layout: Any, coordinate: Any) -> Any:
    if hasattr(layout, "bits"):
        return judge.swizzled(layout, coordinate)
    if not inside(coordinate, layout.shape):
        return None
    return judge.at_coordinate(layout, coordinate)


def inside(coordinate: Any, shape: Any) -> bool:
    """Whether a coordinate lies in a shape and fits its profile."""
    if isinstance(coordinate, tuple):
        return isinstance(shape, tuple) and len(shape) == len(coordinate) and all(map(inside, coordinate, shape))
    return bool(0 <= coordinate < count(shape))


def exact_crd2idx(coordinate: Any, layout: Any) -> Any:
    if not hasattr(layout, "shape"):
        return judge.rank_of(coordinate, layout) if inside(coordinate, layout) else None
    return exact_call(layout, coordinate)


def exact_idx2crd(index: Any, shape: Any) -> Any:
    if not inside(index, shape):
        return None
    if not isinstance(shape, tuple):
        return index
    parts = index if isinstance(index, tuple) else judge.digits(index, [count(mode) for mode in shape])
    return tuple(exact_idx2crd(part, mode) for part, mode in zip(parts, shape, strict=True))


def exact_cosize(layout: Any) -> int:
    image = [0, *judge.values(layout)]
    return int(max(image) - min(image)) + 1


def exact_size(layout: Any) -> int:
    return count(layout.shape)


EXACT: dict[str, Callable[..., Any]] = {
    name.removeprefix("exact_"): function for name, function in list(globals().items()) if name.startswith("exact_")
} | {
    f"{kind}{operation}": arranged(by, arrange)
    for operation, by in (("divide", judge.divide), ("product", judge.product))
    for kind, arrange in (("logical_", None), ("zipped_", zipped), ("tiled_", tiled), ("flat_", flat))
}
