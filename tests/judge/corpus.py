"""Random layouts of every awkward kind, from any source of choices: Hypothesis, or a seeded generator.

The same generators feed the Hypothesis strategies and the conformance corpus. A :class:`Source` is asked for integers
and picks; what it is asked depends only on its answers, so that Hypothesis can shrink and a seed reproduces.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from layoutalg import ComposedLayout, Layout, Swizzle

T = TypeVar("T")

#: Extents, the plain ones first: Hypothesis shrinks towards the front.
EXTENTS = (2, 4, 3, 1, 8, 6, 5, 7, 12, 9, 16)
KINDS = ("compact", "permuted", "gapped", "padded", "zeros", "negative", "arbitrary")


class Source(Protocol):
    """Where choices come from."""

    def integer(self, low: int, high: int) -> int:
        """An integer of [low, high]."""

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""


class SeededSource:
    """Choices of a seeded generator."""

    def __init__(self, seed: int | str) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]


def extents(source: Source, most: int, modes: int = 4) -> list[int]:
    """Up to ``modes`` extents whose product is at most ``most``."""
    result: list[int] = []
    total = 1
    for _ in range(source.integer(1, modes)):
        extent = source.pick(EXTENTS)
        if total * extent > most:
            break
        total *= extent
        result.append(extent)
    return result or [source.integer(1, min(8, most))]


def shuffled(source: Source, count: int) -> list[int]:
    """A permutation of range(count)."""
    left = list(range(count))
    return [left.pop(source.integer(0, len(left) - 1)) for _ in range(count)]


def strides(source: Source, shape: Sequence[int], kind: str) -> list[int]:
    """Strides for flat extents, of one of :data:`KINDS`."""
    if kind == "arbitrary":
        return [source.integer(0, 24) for _ in shape]
    order = list(range(len(shape))) if kind == "compact" else shuffled(source, len(shape))
    result = [0] * len(shape)
    current = 1
    for mode in order:
        if kind in ("gapped", "negative"):
            current *= source.pick((1, 1, 2, 3))
        if kind == "padded":
            current += source.pick((0, 0, 1, 2))
        result[mode] = current
        current *= shape[mode]
    if kind == "zeros":
        result[source.integer(0, len(shape) - 1)] = 0
    if kind == "negative":
        mode = source.integer(0, len(shape) - 1)
        result[mode] = -result[mode]
    return [d if s != 1 else source.pick((0, 0, d, 5)) for s, d in zip(shape, result, strict=True)]


def nested(source: Source, items: Sequence[Any]) -> Any:
    """A nesting of the items: an integer, a flat tuple, groups, or a tuple of one."""
    style = source.integer(0, 3)
    if len(items) == 1:
        return items[0] if style else (items[0],)
    if style <= 1:
        return tuple(items)
    result: list[Any] = []
    position = 0
    while position < len(items):
        length = source.integer(1, 3)
        group = tuple(items[position : position + length])
        result.append(group if len(group) > 1 else group[0])
        position += length
    return tuple(result) if len(result) > 1 or style == 3 else result[0]


def like(items: Sequence[Any], profile: Any) -> Any:
    """Items arranged in the nesting of a profile."""
    iterator = iter(items)

    def arrange(part: Any) -> Any:
        return tuple(map(arrange, part)) if isinstance(part, tuple) else next(iterator)

    return arrange(profile)


def layout(source: Source, most: int = 96, kinds: Sequence[str] = KINDS, modes: int = 4) -> Layout:
    """A layout of at most ``most`` elements."""
    flat = extents(source, most, modes)
    stride = strides(source, flat, source.pick(kinds))
    shape = nested(source, flat)
    return Layout(shape, like(stride, shape))


def shape(source: Source, most: int = 96, modes: int = 4) -> Any:
    """A nested shape of at most ``most`` elements."""
    return nested(source, extents(source, most, modes))


def indexer(source: Source, domain: int, most: int = 64) -> Layout:
    """A layout to index another one of ``domain`` elements with: often made of its divisors, sometimes not."""
    flat: list[int] = []
    stride: list[int] = []
    options = divisors(domain)
    for _ in range(source.integer(1, 3)):
        extent = source.pick(options) if source.integer(0, 4) else source.pick(EXTENTS)
        if extent * product_of(flat) > most:
            continue
        flat.append(extent)
        stride.append(source.pick(options) if source.integer(0, 4) else source.integer(0, domain + 3))
    if not flat:
        flat, stride = [1], [0]
    if source.integer(0, 15) == 15:
        mode = source.integer(0, len(stride) - 1)
        stride[mode] = -stride[mode]
    profile = nested(source, flat)
    return Layout(profile, like(stride, profile))


def divisors(number: int) -> list[int]:
    """All divisors, ascending."""
    return [d for d in range(1, number + 1) if number % d == 0]


def product_of(items: Sequence[int]) -> int:
    """The product of integers."""
    result = 1
    for item in items:
        result *= item
    return result


def tile_of(source: Source, extent: int) -> Any:
    """A tiler of one mode of ``extent`` elements: an integer that divides it or not, a strided run, or a block."""
    options = divisors(extent)
    style = source.integer(0, 5)
    if style == 0:
        return source.integer(1, extent)
    if style <= 2:
        return source.pick(options)
    first = source.pick(options)
    rest = divisors(extent // first)
    if style <= 4:
        return Layout(first, source.pick(rest) if first > 1 else 0)
    gap = source.pick(rest)
    second = source.pick(divisors(extent // first // gap))
    return Layout((first, second), (1, first * gap))


def tiler(source: Source, target: Any, keep: bool = True) -> tuple[Any, ...]:
    """A by-mode tiler for the first modes of a layout, sometimes short, sometimes keeping a mode with None."""
    top = target.shape if isinstance(target.shape, tuple) else (target.shape,)
    length = len(top) if source.integer(0, 3) else source.integer(1, len(top))
    items = [tile_of(source, product_of(_leaves(top[mode]))) for mode in range(length)]
    if keep and source.integer(0, 7) == 7:
        items[source.integer(0, length - 1)] = None
    return tuple(items)


def _leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in _leaves(item)] if isinstance(value, tuple) else [value]


def swizzle(source: Source) -> Swizzle:
    """A swizzle small enough to move the offsets of small layouts; now and then of negative shift."""
    bits = source.integer(0, 3)
    shift = source.integer(max(bits, 1), 4)
    return Swizzle(bits, source.integer(0, 3), -shift if source.integer(0, 5) == 5 else shift)


def composed(source: Source, most: int = 96, kinds: Sequence[str] = KINDS) -> ComposedLayout:
    """A swizzle, an offset and a layout whose sum with the offset stays at or above 0."""
    inner = layout(source, most, kinds)
    lowest = -sum((s - 1) * min(d, 0) for s, d in zip(_leaves(inner.shape), _leaves(inner.stride), strict=True))
    return ComposedLayout(swizzle(source), lowest + source.pick((0, 0, 0, 1, 8, 37)), inner)


def any_layout(source: Source, most: int = 96, kinds: Sequence[str] = KINDS) -> Layout | ComposedLayout:
    """A layout, or a swizzled one a third of the time."""
    return composed(source, most, kinds) if source.integer(0, 2) == 2 else layout(source, most, kinds)


def coordinate(source: Source, where: Any, keep: int = 0) -> Any:
    """A coordinate of a shape, at a random level of nesting; with ``keep`` in 8, a part is ``None``."""
    if keep and source.integer(0, 7) < keep:
        return None
    if isinstance(where, tuple) and source.integer(0, 3):
        return tuple(coordinate(source, item, keep) for item in where)
    return source.integer(0, product_of(_leaves(where)) - 1)
