"""Inverses of a layout, and what two layouts have in common.

Laws: ``A(right_inverse(A)(i)) == i`` and ``left_inverse(A)(A(i)) == i`` for every index i of the one applied first;
``A(nullspace(A)(i)) == 0``; ``A(max_common_layout(A, B)(i)) == i == B(max_common_layout(A, B)(i))``.
Source: CUTLASS ``include/cute/layout.hpp`` (right_inverse, left_inverse, nullspace, max_common_layout).

>>> from layoutalg import Layout
>>> a = Layout((4, 8), (8, 1))
>>> all(a(right_inverse(a)(i)) == i == left_inverse(a)(a(i)) for i in range(32))
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layoutalg.algebra.coalesce import coalesce_plain
from layoutalg.algebra.complement import refuse_overlap
from layoutalg.errors import LayoutError, NotDivisibleError, NotInjectiveError, UndecidedError
from layoutalg.layouts.composed import ComposedLayout, is_swizzled
from layoutalg.layouts.cosize import cosize
from layoutalg.layouts.flat import from_flat, merge
from layoutalg.layouts.layout import Layout, need_integer_strides, need_readable
from layoutalg.layouts.modes import AnyLayout, LayoutKind, need_layout, need_plain, size
from layoutalg.layouts.plain_composition import ExtendedLayout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import flatten_tuple
from layoutalg.tuples.leaf import divides, equal, has_symbols, need_int, need_steps
from layoutalg.tuples.scaled_basis import is_zero


def right_inverse(layout: LayoutKind) -> LayoutKind:
    """The layout R of CuTe's form with ``layout(R(i)) == i``: an index for each offset from 0 on.

    R collects the modes of ``layout``, coalesced, whose strides continue one another from stride 1, up to where none
    continues; ``1:0`` where there is none. Where two modes have one stride, the first counts, as in CuTe: the result is
    as long as any of that form wherever the strides are distinct.

    Args:
        layout: a layout, or a swizzle after one at offset 0 (the result is then its inverse, composed).

    Raises:
        LayoutError: for other composed layouts and for basis strides.

    >>> print(right_inverse(Layout((4, 8), (8, 1))))
    (8,4):(4,1)
    """
    if isinstance(need_layout(layout, "right_inverse"), ComposedLayout):
        return _inverse_of_swizzled(layout, "right_inverse", right_inverse_plain)  # type: ignore[return-value]
    return right_inverse_plain(need_plain(layout, "right_inverse"))  # type: ignore[return-value]


def right_inverse_plain(layout: Layout) -> Layout:
    """:func:`right_inverse` of a plain layout."""
    need_integer_strides(layout, "right_inverse")
    extents: list[Any] = []
    strides: list[Any] = []
    modes: dict[Any, tuple[Any, Any]] = {}
    index = 1
    flat = coalesce_plain(layout)
    for s, d in zip(flatten_tuple(flat.shape), flatten_tuple(flat.stride), strict=True):
        if s != 1:
            modes.setdefault(d, (s, index))
        index *= s
    offset = 1
    symbolic = has_symbols(flatten_tuple((flat.shape, flat.stride)))  # an extent's symbols get into the next offset
    next_mode = _mode_by_proof if symbolic else dict.get
    while (mode := next_mode(modes, offset)) is not None:
        s, index = mode
        extents.append(s)
        strides.append(index)
        offset *= s
    return from_flat(*merge(tuple(extents), tuple(strides)))


def _mode_by_proof(modes: dict[Any, tuple[Any, Any]], offset: Any) -> tuple[Any, Any] | None:
    """The mode with this stride, where strides hold symbols: each that might be equal must be decided."""
    return next((mode for stride, mode in modes.items() if equal(stride, offset)), None)


def left_inverse(layout: LayoutKind) -> LayoutKind:
    """The layout R with ``R(layout(i)) == i`` for every index i, in CuTe's form: a mode for each stride of ``layout``.

    Args:
        layout: a layout, or a swizzle after one at offset 0 (the result is then its inverse, composed).

    Raises:
        NotInjectiveError: if two indices share an offset, so that there is no inverse.
        NotDivisibleError: if the strides, sorted, form no chain, so that none has that form.
        LayoutError: for negative and basis strides and for other composed layouts.

    >>> print(left_inverse(Layout((4, 8), (1, 5))), left_inverse(Layout(4, 2)))
    (5,8):(1,4) (2,4):(0,1)
    """
    if isinstance(need_layout(layout, "left_inverse"), ComposedLayout):
        return _inverse_of_swizzled(layout, "left_inverse", left_inverse_plain)  # type: ignore[return-value]
    return need_readable(left_inverse_plain(need_plain(layout, "left_inverse")), "left_inverse")  # type: ignore[return-value]


def left_inverse_plain(layout: Layout) -> Layout:
    """:func:`left_inverse` of a plain layout."""
    need_integer_strides(layout, "left_inverse")
    flat = coalesce_plain(layout)
    modes = []
    index = 1
    for s, d in zip(flatten_tuple(flat.shape), flatten_tuple(flat.stride), strict=True):
        if s != 1:
            modes.append((d, s, index))
        index *= s
    modes.sort()
    if modes and modes[0][0] < 0:
        raise LayoutError(f"left_inverse: strides must not be negative, found {modes[0][0]}; layout = {layout}")
    extents: list[Any] = []
    strides: list[Any] = []
    previous, count, weight = 1, 1, 0  # the mode below: its stride, its extent, its index stride
    for d, s, index in modes:
        if d == 0:
            raise NotInjectiveError(f"left_inverse: the layout must be injective, found stride 0; layout = {layout}")
        if not divides(previous, d) or d < previous * count:
            refuse_overlap("left_inverse", [(n, step) for step, n, _ in modes], layout)
            raise NotDivisibleError(
                f"left_inverse: stride {d} must be a multiple of {previous} and at least {previous * count}, the mode "
                f"below it; layout = {layout}"
            )
        if d != previous * count:  # a mode that is never stepped along would leave no gap, nor weigh in one
            need_steps(s)
            if weight:
                need_steps(count)
        extents.append(d // previous)
        strides.append(weight)
        previous, count, weight = d, s, index
    extents.append(count)
    strides.append(weight)
    return from_flat(*merge(tuple(extents), tuple(strides)))


def _inverse_of_swizzled(layout: Any, operation: str, inverse: Callable[[Layout], Layout]) -> ComposedLayout:
    """The inverse of S o L: a swizzle is its own inverse, so it is the inverse of L after S."""
    if not is_swizzled(layout) or layout.offset != 0:
        raise LayoutError(
            f"{operation}: a composed layout must be a swizzle after a plain layout at offset 0; layout = {layout}"
        )
    inner = inverse(layout.inner)
    domain = cosize(layout) if operation == "left_inverse" else _kept_range(layout.outer, size(inner))
    return ComposedLayout(inner, 0, ComposedLayout(layout.outer, 0, Layout(domain)))


def _kept_range(swizzle: Swizzle, count: int) -> int:
    """The largest n <= count such that the swizzle takes 0 .. n-1 to below count.

    It permutes each block of as many offsets as its fields span, so that only a last block cut short can lead out.
    """
    block = 1 << (swizzle.bits + swizzle.base + abs(swizzle.shift))
    lowest_read = swizzle.source_mask & -swizzle.source_mask  # smaller offsets stay where they are
    last_block = range(max(count - count % block, lowest_read), count) if swizzle.bits else range(0)
    if len(last_block) > 1 << 22:
        raise UndecidedError(
            f"right_inverse: must look at {len(last_block)} offsets, more than {1 << 22}; swizzle = {swizzle}"
        )
    return next((i for i in last_block if swizzle(i) >= count), count)


def nullspace(layout: Layout) -> Layout:
    """The indices that the modes of stride 0 run over: ``layout(nullspace(layout)(i)) == 0``; ``1:0`` without such.

    Raises:
        LayoutError: for a composed layout.

    >>> print(nullspace(Layout((4, 3, 2), (0, 1, 0))))
    (4,2):(1,12)
    """
    layout = need_plain(layout, "nullspace")
    extents: list[Any] = []
    strides: list[Any] = []
    index = 1
    for s, d in zip(flatten_tuple(layout.shape), flatten_tuple(layout.stride), strict=True):
        if is_zero(d):
            extents.append(s)
            strides.append(index)
        index *= s
    return from_flat(extents, strides)


def max_common_layout(a: AnyLayout, b: AnyLayout) -> Layout:
    """The layout R with ``a(R(i)) == i == b(R(i))``: the indices where a and b agree, from offset 0 on.

    It is the longest of CuTe's form for plain layouts whose strides are distinct (:func:`right_inverse`); of a swizzled
    one, only offsets that the swizzle leaves alone are looked at.

    Args:
        a: a layout, plain or a swizzle after one, of which the run of offsets that the swizzle leaves alone counts.
        b: likewise.

    Raises:
        LayoutError: for other composed layouts and for basis strides.

    >>> print(max_common_layout(Layout((4, 8), (1, 4)), Layout((4, 8), (1, 8))))
    4:1
    """
    first, limit_a = _linear_part(a)
    second, limit_b = _linear_part(b)
    for leaf in (*flatten_tuple((first.shape, first.stride)), *flatten_tuple((second.shape, second.stride))):
        need_int(leaf, "max_common_layout: an extent or stride")
    inverse = right_inverse_plain(second)
    function = ExtendedLayout(*_flat_extended(first))
    total = size(first)
    limit = min(limit_a, limit_b)
    extents: list[Any] = []
    strides: list[Any] = []
    offset = 1
    reach = 0  # the largest index used so far
    for s, d in zip(flatten_tuple(inverse.shape), flatten_tuple(inverse.stride), strict=True):
        if d == 0 or function(d) != offset:
            break
        count = min(s, limit // offset, (total - 1 - reach) // d + 1)
        count = function.first_jump(d, count) or count
        while count > 1 and (carry := function.first_carry([*zip(extents, strides, strict=True), (count, d)])):
            count = carry[-1]
        if count < 2:
            break
        extents.append(count)
        strides.append(d)
        offset *= count
        reach += d * (count - 1)
        if count < s:
            break
    return from_flat(*merge(tuple(extents), tuple(strides)))


def max_common_vector(a: AnyLayout, b: AnyLayout) -> int:
    """How many elements a and b hold in the same order from offset 0 on: the widest copy between them, in elements.

    >>> max_common_vector(Layout((4, 8), (1, 4)), Layout((4, 8), (1, 8)))
    4
    """
    return size(max_common_layout(a, b))


def _linear_part(layout: AnyLayout) -> tuple[Layout, int]:
    """A plain layout that a layout equals on offsets below a limit."""
    need_layout(layout, "max_common_layout")
    if isinstance(layout, ComposedLayout):
        if not is_swizzled(layout) or layout.offset != 0:
            raise LayoutError(
                f"max_common_layout: a composed layout must be a swizzle after a plain layout at offset 0; "
                f"layout = {layout}"
            )
        swizzle: Any = layout.outer
        inner: Any = layout.inner
        # Below the lowest bit that is read, a swizzle changes nothing.
        limit = 1 << (swizzle.source_mask & -swizzle.source_mask).bit_length() - 1 if swizzle.bits else size(inner)
        return need_integer_strides(inner, "max_common_layout"), min(limit, size(inner))
    return need_integer_strides(layout, "max_common_layout"), size(layout)


def _flat_extended(layout: Layout) -> tuple[list[Any], list[Any]]:
    extents, strides = merge(flatten_tuple(layout.shape), flatten_tuple(layout.stride))
    return (extents, strides) if extents else ([1], [0])
