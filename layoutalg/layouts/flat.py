"""Operations on flat modes, which are extents and strides in parallel lists.

Source: CUTLASS ``include/cute/layout.hpp`` (coalesce, filter).

>>> merge((2, 1, 6), (1, 6, 2)), from_flat([12], [1])  # 2:1 goes on as 6:2
(([12], [1]), Layout(12, 1))
"""

from __future__ import annotations

from typing import Any

from layoutalg.layouts.layout import Layout, trusted
from layoutalg.tuples.int_tuple import flatten_tuple
from layoutalg.tuples.scaled_basis import is_zero

#: Parallel lists of extents and strides.
Flat = tuple[list[Any], list[Any]]


def merge(shape: tuple[Any, ...], stride: tuple[Any, ...]) -> Flat:
    """Drop the modes of extent 1, and join each mode with the one before it if it continues that one.

    A stride of 0 times a unit vector becomes the integer 0.
    """
    extents: list[Any] = []
    strides: list[Any] = []
    for s, d in zip(shape, stride, strict=True):
        if s == 1:
            continue
        if extents and extents[-1] * strides[-1] == d:
            extents[-1] *= s
        elif type(d) is int or not is_zero(d):
            extents.append(s)
            strides.append(d)
        elif extents and is_zero(strides[-1]):  # 0 times a unit vector after a stride 0
            extents[-1] *= s
        else:
            extents.append(s)
            strides.append(0)
    return extents, strides


def from_flat(extents: list[Any], strides: list[Any]) -> Layout:
    """Return the layout of flat modes: one with an integer shape for one mode, ``1:0`` for none."""
    if len(extents) == 1:
        return trusted(extents[0], strides[0])
    if not extents:
        return trusted(1, 0)
    return trusted(tuple(extents), tuple(strides))


#: A shape and its strides.
Mode = tuple[Any, Any]


def cut(layout: Layout, count: int) -> tuple[Mode, Mode] | None:
    """Split a layout of integers into the modes of its first ``count`` indices and the remaining modes.

    Returns:
        Both parts, coalesced; ``1:0`` for a part without modes. None if ``count`` does not divide the mode in which it
        ends. None also for operands that need the general way: symbols, basis strides, a last mode of extent 1, or a
        count beyond the size.

    >>> cut(Layout((4, 6), (1, 8)), 8), cut(Layout((4, 6), (1, 8)), 6)
    ((((4, 2), (1, 8)), (3, 16)), None)
    """
    shape, stride = flatten_tuple(layout.shape), flatten_tuple(layout.stride)
    if not shape or shape[-1] == 1 or set(map(type, shape)) != {int} or set(map(type, stride)) != {int}:
        return None
    first: Flat = ([], [])
    rest: Flat = ([], [])
    for s, d in zip(*merge(shape, stride)):  # noqa: B905  parallel
        if count % s == 0 and count != 1:
            part = s
            count //= s
        elif s % count == 0:
            part, count = count, 1
        else:
            return None
        if part != 1:
            first[0].append(part)
            first[1].append(d)
        if part != s:
            rest[0].append(s // part)
            rest[1].append(d * part)
    return (_mode(first), _mode(rest)) if count == 1 else None


def _mode(flat: Flat) -> Mode:
    extents, strides = flat
    if len(extents) == 1:
        return extents[0], strides[0]
    return (tuple(extents), tuple(strides)) if extents else (1, 0)


def filtered(layout: Layout) -> Flat:
    """Return the coalesced flat modes of a layout without those of stride 0."""
    modes = [
        (s, d) for s, d in zip(flatten_tuple(layout.shape), flatten_tuple(layout.stride), strict=True) if not is_zero(d)
    ]
    return merge(tuple([s for s, _ in modes]), tuple([d for _, d in modes]))


def compact_size(block: Layout) -> int | None:
    """Return the size of the image of a layout of integers if its offsets are exactly 0 to that size - 1, else None.

    Modes of stride 0 do not count. None also for symbols and basis strides.

    >>> compact_size(Layout((4, (2, 3)), (6, (3, 1)))), compact_size(Layout(4, 2))
    (24, None)
    """
    shape, stride = flatten_tuple(block.shape), flatten_tuple(block.stride)
    if set(map(type, shape)) != {int} or set(map(type, stride)) != {int}:
        return None
    period = 1
    for d, s in sorted(zip(stride, shape)):  # noqa: B905  # congruent
        if s != 1 and d != 0:
            if d != period:
                return None
            period *= s
    return period


def scaled_by(shape: Any, stride: Any, period: int) -> Any:
    """Return the strides of a tiler, scaled by the period of the blocks that it repeats.

    None if an extent or stride is not an integer, or a stride is negative. A mode of extent 1 gets stride 0.

    >>> scaled_by((3, (4, 1)), (1, (3, 5)), 10)
    (10, (30, 0))
    """
    if type(shape) is not tuple:
        if type(shape) is not int or type(stride) is not int or stride < 0:
            return None
        return period * stride if shape != 1 else 0
    strides = [scaled_by(n, d, period) for n, d in zip(shape, stride)]  # noqa: B905  # congruent
    return None if None in strides else tuple(strides)
