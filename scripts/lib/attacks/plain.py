"""Layouts a second time, as plainly as possible: evaluated digit by digit, nothing kept, nothing clever.

The names are those of the package, so that one line of Python can be read twice: with the package's values and with
these. An offset is an integer, or a sum of unit vectors: a dictionary from paths to numbers, without zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ScaledBasis:
    """``value`` times the unit vector at a path."""

    value: int
    mode: Any

    @property
    def path(self) -> tuple[int, ...]:
        return tuple(self.mode) if isinstance(self.mode, (tuple, list)) else (self.mode,)


@dataclass(frozen=True)
class Swizzle:
    """Exclusive-or ``bits`` bits at ``base + shift`` into those at ``base``; for a negative shift the other way."""

    bits: int
    base: int
    shift: int

    def __call__(self, x: Any) -> Any:
        if not self.bits:
            return x  # a coordinate too
        low, high = self.base, self.base + abs(self.shift)
        read, changed = (high, low) if self.shift >= 0 else (low, high)
        return x ^ (((x >> read) % (1 << self.bits)) << changed)


@dataclass(frozen=True)
class Layout:
    """Extents and strides; without strides compact, the first mode fastest."""

    shape: Any
    stride: Any = None

    @property
    def modes(self) -> list[tuple[int, Any]]:
        extents = leaves(self.shape)
        if self.stride is not None:
            return list(zip(extents, leaves(self.stride), strict=True))
        strides, step = [], 1
        for extent in extents:
            strides.append(step)
            step *= extent
        return list(zip(extents, strides, strict=True))


@dataclass(frozen=True)
class ComposedLayout:
    """``outer(offset + inner(coordinate))``."""

    outer: Any
    offset: Any
    inner: Any

    @property
    def shape(self) -> Any:
        return self.inner.shape


def innermost(layout: Any) -> Layout:
    return innermost(layout.inner) if isinstance(layout, ComposedLayout) else layout


def leaves(nested: Any) -> list[Any]:
    return [leaf for part in nested for leaf in leaves(part)] if isinstance(nested, tuple) else [nested]


def size(value: Any) -> int:
    total = 1
    for extent in leaves(value.shape if isinstance(value, (Layout, ComposedLayout)) else value):
        total *= extent
    return total


def mode(layout: Any, i: int) -> Any:
    """A top-level mode; what is composed after the layout goes along."""
    if isinstance(layout, ComposedLayout):
        return ComposedLayout(layout.outer, layout.offset, mode(layout.inner, i))
    if not isinstance(layout.shape, tuple):
        return layout
    before = len(leaves(layout.shape[:i]))
    steps = [d for _, d in layout.modes][before : before + len(leaves(layout.shape[i]))]
    return Layout(layout.shape[i], _like(layout.shape[i], steps))


def rank(layout: Any) -> int:
    return len(layout.shape) if isinstance(layout.shape, tuple) else 1


def _like(shape: Any, flat: list[Any]) -> Any:
    return tuple(_like(part, flat) for part in shape) if isinstance(shape, tuple) else flat.pop(0)


def digits(index: int, extents: list[int]) -> list[int]:
    """The digits of an index, first fastest; the last one runs on, and a negative index has negative digits."""
    sign, index = (-1, -index) if index < 0 else (1, index)
    reversed_digits = []
    for extent in extents[:-1]:
        reversed_digits.append(sign * (index % extent))
        index //= extent
    return [*reversed_digits, sign * index] if extents else []


def at(function: Any, index: Any) -> Any:
    """The value of a layout or swizzle at an index, or at what another layout gives."""
    if isinstance(function, Swizzle):
        return function(index)
    if isinstance(function, ComposedLayout):
        return at(function.outer, plus(function.offset, at(function.inner, index)))
    total: Any = 0
    if isinstance(index, (dict, tuple)):
        parts = index if isinstance(index, dict) else _vector(index)
        for path, number in parts.items():
            part = function
            for step in path:
                part = mode(part, step)
            total = plus(total, at(part, number))
        return total
    for digit, (_, stride) in zip(digits(index, [n for n, _ in function.modes]), function.modes, strict=True):
        total = plus(total, {stride.path: digit * stride.value} if isinstance(stride, ScaledBasis) else digit * stride)
    return total


def _vector(nested: Any, path: tuple[int, ...] = ()) -> dict[tuple[int, ...], int]:
    if not isinstance(nested, tuple):
        return {path: nested} if nested else {}
    return {p: n for i, part in enumerate(nested) for p, n in _vector(part, (*path, i)).items()}


def plus(a: Any, b: Any) -> Any:
    """The sum of two offsets; the integer 0 is the zero vector too, and so is an empty dictionary the integer."""
    if not isinstance(a, (dict, tuple)) and not isinstance(b, (dict, tuple)):
        return a + b
    one, other = (value if isinstance(value, dict) else _vector(value) for value in (a, b))
    total = {path: one.get(path, 0) + other.get(path, 0) for path in sorted({**one, **other})}
    return {path: number for path, number in total.items() if number} or 0


def image(layout: Any) -> list[Any]:
    """All values, in the order of the index."""
    return [at(layout, i) for i in range(size(layout))]


def of(value: Any) -> Any:
    """A value of the package, from its parts, as one of these."""
    match type(value).__name__:
        case "Layout":
            return Layout(value.shape, of(value.stride))
        case "ComposedLayout":
            return ComposedLayout(of(value.outer), value.offset, of(value.inner))
        case "Swizzle":
            return Swizzle(value.bits, value.base, value.shift)
        case "ScaledBasis":
            return ScaledBasis(value.value, value.mode)
        case "tuple":
            return tuple(map(of, value))
    return value
