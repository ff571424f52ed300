"""Operations on flat modes, which are extents and strides in parallel lists.

Source: CUTLASS ``include/cute/layout.hpp`` (coalesce, filter).

>>> merge((2, 1, 6), (1, 6, 2)), from_flat([12], [1])  # 2:1 goes on as 6:2
(([12], [1]), Layout(12, 1))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from layoutalg.errors import LayoutError
from layoutalg.layouts.layout import Layout, has_basis, trusted
from layoutalg.tuples.int_tuple import flatten_tuple
from layoutalg.tuples.scaled_basis import ScaledBasis, at_paths, is_zero

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


#: A mode of extent greater than 1: its extent, its integer stride, and the index of its first step.
IndexedMode = tuple[Any, Any, Any]
#: The modes of a layout by the path of the mode of the coordinate along which they step; () for integer strides.
Axes = dict[tuple[int, ...], list[IndexedMode]]


def axes(layout: Layout, operation: str) -> Axes:
    """Return the coalesced modes of a layout, separated by the mode of the coordinate along which each of them steps.

    A layout with basis strides maps to coordinates, and each of its modes steps along one axis only. Its image is the
    product of the images along the axes, so that it is inverted and complemented axis by axis.

    Raises:
        LayoutError: if the layout has both integer strides other than 0 and basis strides.

    >>> from layoutalg import E
    >>> axes(Layout((4, 2, 3), (E(1), 0, 5 * E(1))), "doc"), axes(Layout((4, 3), (3, 1)), "doc")
    ({(1,): [(4, 1, 1), (3, 5, 8)]}, {(): [(4, 3, 1), (3, 1, 4)]})
    """
    strides = flatten_tuple(layout.stride)
    extents, steps = merge(flatten_tuple(layout.shape), strides)
    if not has_basis(layout):
        return {(): indexed(extents, steps)}
    groups: Axes = {stride.mode: [] for stride in strides if isinstance(stride, ScaledBasis)}
    for extent, stride, index in indexed(extents, steps):
        if isinstance(stride, ScaledBasis):
            groups[stride.mode].append((extent, stride.value, index))
        elif stride != 0:
            raise LayoutError(f"{operation}: the layout has both integer and basis strides; layout = {layout}")
    return groups


def indexed(extents: list[Any], strides: list[Any]) -> list[IndexedMode]:
    """Return flat modes with the index of the first step of each.

    >>> indexed([4, 8], [8, 1])
    [(4, 8, 1), (8, 1, 4)]
    """
    modes = []
    index = 1
    for extent, stride in zip(extents, strides):  # noqa: B905  parallel
        modes.append((extent, stride, index))
        index *= extent
    return modes


def from_axes(parts: Mapping[tuple[int, ...], Layout], missing: Layout) -> Layout:
    """Return the layout whose modes are the given ones at their paths, and ``missing`` at the modes between them.

    >>> print(from_axes({(0,): Layout(4, 1), (2, 1): Layout(3, 4)}, Layout(1, 0)))
    (4,1,(1,3)):(1,0,(0,4))
    """
    if () in parts:
        return parts[()]
    shapes, strides = ({path: get(part) for path, part in parts.items()} for get in (_shape, _stride))
    return trusted(at_paths(shapes, missing.shape), at_paths(strides, missing.stride))


def _shape(layout: Layout) -> Any:
    return layout.shape


def _stride(layout: Layout) -> Any:
    return layout.stride


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
