"""The form of the house: the one text of each operation that has one, found by enumeration.

Each function takes the operands of the operation of its name and gives the answer in notation, the strides of extent-1
modes written 0, or None where no answer is right: whether there is one is decided here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import judge
from notation import normal, plain_text

from layoutalg.laws.definitions import spread
from layoutalg.laws.existence import Split, basis_complement, split
from layoutalg.laws.partitions import compact
from layoutalg.laws.points import Plain, count, inner, join, leaves, modes, nested_like, pairs, values


def text(layout: Any, result: Any) -> str | None:
    """Notation of a result for the domain of ``layout``, with the swizzle that comes after it."""
    if result is None:
        return None
    plain = plain_text(*result) if isinstance(result, tuple) else plain_text(result.shape, result.stride)
    if hasattr(layout, "inner"):
        return f"{normal(layout.outer)} o {layout.offset} o {plain}"
    return plain


def coalesced(layout: Any) -> Plain:
    return Plain(*judge.shape_and_stride(judge.form(values(layout)) or []))


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
    moving = [(s, d) for s, d in pairs(inner(layout)) if d != 0]
    return text(layout, coalesced(Plain(tuple(s for s, _ in moving), tuple(d for _, d in moving))))


def exact_composition(a: Any, b: Any) -> str | None:
    if hasattr(a, "bits") or hasattr(b, "inner"):  # kept as it is written
        return f"{normal(a)} o 0 o {normal(b)}"
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


def exact_with_shape(layout: Any, shape: Any) -> str | None:
    return exact_composition(layout, Plain(shape, compact(shape)))


def exact_complement(layout: Any, cotarget: Any = 1) -> str | None:
    if any(hasattr(stride, "mode") for stride in leaves(layout.stride)):
        whole = basis_complement(layout, cotarget)
        return None if whole is None else plain_text(whole.shape, whole.stride)
    result = judge.complement(pairs(layout), count(cotarget.shape if hasattr(cotarget, "shape") else cotarget))
    return None if result is None else plain_text(*judge.shape_and_stride(result))


def gathered(parts: Plain, tiler: Any) -> tuple[Plain, Plain] | None:
    """The firsts and the seconds of a by-mode split; None where a mode that was not split is no pair."""
    if tiler is None and len(opened(parts)) != 2:
        return None
    if not isinstance(tiler, tuple):
        return tuple(opened(parts))  # type: ignore[return-value]
    pairs = [gathered(mode, tile) for mode, tile in zip(modes(parts), tiler, strict=False)]
    if None in pairs:
        return None
    rest = modes(parts)[len(tiler) :]
    return join([pair[0] for pair in pairs if pair]), join([*[pair[1] for pair in pairs if pair], *rest])


def opened(part: Plain) -> list[Plain]:
    return modes(part) if isinstance(part.shape, tuple) else [part]


def arranged(by: Split, arrange: Callable[[Plain, Plain], Plain] | None) -> Callable[..., str | None]:
    def exact(target: Any, tiler: Any, round_up: bool = False) -> str | None:
        parts = split(inner(target), tiler, (lambda *operands: by(*operands, round_up)) if round_up else by)
        if parts is None or arrange is None:
            return text(target, parts)
        pair = None if tiler is None else gathered(parts, tiler)
        return None if pair is None else text(target, arrange(*pair))

    return exact


def zipped(tile: Plain, rest: Plain) -> Plain:
    return join([tile, rest])


def tiled(tile: Plain, rest: Plain) -> Plain:
    return join([tile, *opened(rest)])


def flat(tile: Plain, rest: Plain) -> Plain:
    return join([*opened(tile), *opened(rest)])


# Strides made anew ------------------------------------------------------------------------------------------------


def placed(shape: Any, keys: list[Any]) -> Any:
    """Compact strides in the order of the keys, ties from left to right; 0 where a key is None."""
    extents = leaves(shape)
    strides = [0] * len(extents)
    current = 1
    for mode in sorted((m for m, key in enumerate(keys) if key is not None), key=lambda m: (keys[m], m)):
        strides[mode] = current
        current *= extents[mode]
    return nested_like(iter(strides), shape)


def exact_make_ordered_layout(shape: Any, order: Any) -> str | None:
    return plain_text(shape, placed(shape, spread(order, shape)))


def exact_make_layout_like(layout: Any) -> str | None:
    # Sorting by the strides themselves; the modes of stride 0 stay out.
    part = inner(layout)
    return plain_text(part.shape, placed(part.shape, [d if d != 0 and s != 1 else None for s, d in pairs(part)]))


EXACT: dict[str, Callable[..., Any]] = {
    name.removeprefix("exact_"): function for name, function in list(globals().items()) if name.startswith("exact_")
} | {
    f"{kind}{operation}": arranged(by, arrange)
    for operation, by in (("divide", judge.divide), ("product", judge.product))
    for kind, arrange in (("logical_", None), ("zipped_", zipped), ("tiled_", tiled), ("flat_", flat))
}
