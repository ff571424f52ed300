"""The operation ``complement``: the layout of the offsets that another layout leaves free.

Definition: ``complement(A, M)`` is a layout R with sorted strides. Its offsets fit between and beyond those of A: the
sums ``A(i) + R(j)`` are all different, and whole periods of A and R reach M. The *period* of a set of modes is the
largest stride times the extent of its mode. If A has a mode of stride d above modes of period p, R has a mode of stride
p and extent ``d // p``, the number of periods that fit below d.

Theorem: this R exists if and only if each stride of A, sorted, is at least the period of the modes below it. The sums
are then unique, because the sum of the modes below a stride stays below it. The sums fill an interval without gaps if
and only if each stride is a multiple of that period (two sets of offsets that add up to an interval alternate in a
mixed radix; de Bruijn 1956). If a stride is not a multiple, as in shared memory that is padded to avoid bank conflicts,
the padding stays unused. Modes of A with stride 0 add no offsets and are ignored.
Proof: ``complement_disjoint`` and ``complement_covers`` in ``proofs/Complement.v``, without the converses.
Source: CUTLASS ``include/cute/layout.hpp`` (complement), CuTe documentation "Layout Algebra", complement.

>>> from layoutalg import Layout
>>> a = Layout((2, 2), (1, 6))
>>> rest = complement(a, 24)
>>> print(rest, sorted(a(i) + rest(j) for i in range(4) for j in range(6)) == list(range(24)))
(3,2):(2,12) True
"""

from __future__ import annotations

from math import lcm
from typing import Any, NoReturn

from layoutalg.errors import LayoutError, NotDivisibleError, NotInjectiveError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.flat import filtered, from_flat, merge
from layoutalg.layouts.layout import Layout, need_integer_strides, need_readable
from layoutalg.layouts.modes import AnyLayout, need_plain
from layoutalg.tuples.int_tuple import Shape, check_depth, flatten_tuple, product, safe_text
from layoutalg.tuples.leaf import as_leaf, ceil_div, divides, has_symbols, need_steps


def complement(layout: Layout, cotarget: Shape | Layout = 1) -> Layout:
    """Return the sorted layout of offsets that fit between and beyond those of ``layout``, so that all sums differ.

    Args:
        layout: a plain layout with non-negative integer strides.
        cotarget: the number of offsets to cover: an integer, or the size of a shape or layout. It is rounded up to
            whole periods of ``layout``. Default: only the gaps inside ``layout``.

    Raises:
        NotInjectiveError: if ``layout`` maps two coordinates to one offset, other than by a stride of 0.
        NotDivisibleError: if a stride is less than the period of the modes below it.
        LayoutError: if a stride is negative or a basis stride, or the cotarget is not positive.

    >>> print(complement(Layout(4, 2), 24), complement(Layout((2, 4), (1, 6)), 24))
    (2,3):(1,8) 3:2

    Columns of 64 elements at a distance of 72 elements:

    >>> print(complement(Layout((64, 64), (1, 72)), 16384))
    4:4608
    """
    return need_readable(gaps(need_plain(layout, "complement"), _target(cotarget))[0], "complement")


def gaps(layout: Layout, target: Any) -> tuple[Layout, bool]:
    """Return the complement of a plain layout up to ``target``, and whether the two together cover every offset."""
    counts, steps, filled = _inner_modes(layout)
    counts.append(ceil_div(target, steps[-1]))
    return from_flat(*merge(tuple(counts), tuple(steps))), filled


def room(layout: Layout, copies: Any) -> Layout:
    """Return the start offsets for a number of copies of a plain layout: its complement, extended as far as needed.

    A complement up to the number of elements of all copies is not sufficient for a padded layout, because a period of
    it has room for fewer copies.

    >>> print(complement(Layout((2, 2), (1, 6)), 4 * 9), room(Layout((2, 2), (1, 6)), 9))
    (3,3):(2,12) (3,3):(2,12)
    >>> print(complement(Layout((16, 3), (32, 6)), 48 * 8), room(Layout((16, 3), (32, 6)), 8))  # 6 copies per 512
    6:1 (6,2):(1,512)
    """
    counts, steps, filled = _inner_modes(layout)
    if filled:
        counts.append(ceil_div(product(layout.shape) * copies, steps[-1]))
    else:
        counts.append(ceil_div(copies, product(tuple(counts))))
    return from_flat(*merge(tuple(counts), tuple(steps)))


def _inner_modes(layout: Layout) -> tuple[list[Any], list[Any], bool]:
    """Return the extents and strides of the complement inside one period of a layout.

    Returns:
        The extents; the strides, followed by the period; and whether layout and complement together cover every offset
        of the period.
    """
    need_integer_strides(layout, "complement")
    extents, strides = filtered(layout)
    counts: list[Any] = []
    steps: list[Any] = []
    period = 1  # all sums of the modes so far are below this offset
    filled = True
    for d, s in sorted(zip(strides, extents, strict=True)):
        if d <= 0 or d < period:
            _raise_for_stride(d, period, extents, strides, layout)
        if d != period:
            need_steps(s)  # if the extent of the mode were 1, there would be no gap
            filled = filled and divides(period, d)
        counts.append(d // period)
        steps.append(period)
        period = d * s
    steps.append(period)
    return counts, steps, filled


def _target(cotarget: AnyLayout | Shape) -> int:
    """Return the number of offsets to cover.

    Raises:
        LayoutError: if the cotarget is a composed layout, or is not positive.
    """
    if isinstance(cotarget, Layout):
        return product(cotarget.shape)
    if isinstance(cotarget, ComposedLayout):
        raise LayoutError(f"complement: the cotarget {cotarget} is neither a shape nor a plain layout")
    check_depth(cotarget, "complement: the cotarget")
    leaves = [as_leaf(leaf, "complement: the cotarget") for leaf in flatten_tuple(cotarget)]
    if any(leaf < 1 for leaf in leaves):
        raise LayoutError(f"complement: the cotarget {safe_text(cotarget)} is not positive")
    return product(tuple(leaves))


def _raise_for_stride(stride: Any, period: Any, extents: list[Any], strides: list[Any], layout: Layout) -> NoReturn:
    """Raise the error for a stride: a negative stride, a layout that is not injective, or modes that interleave."""
    if min(strides) < 0:
        raise LayoutError(f"complement: stride {min(strides)} is negative; layout = {layout}")
    refuse_overlap("complement", list(zip(extents, strides, strict=True)), layout)
    raise NotDivisibleError(
        f"complement: stride {stride} is less than {period}, the period of the modes below it; layout = {layout}"
    )


def refuse_overlap(operation: str, modes: list[tuple[Any, Any]], layout: Layout) -> None:
    """Check that no two of the modes ``(extent, stride)`` share an offset besides 0; modes with symbols pass.

    Raises:
        NotInjectiveError: if two modes share an offset.
    """
    if has_symbols(leaf for mode in modes for leaf in mode):
        return
    for i, (s, d) in enumerate(modes):
        for t, e in modes[:i]:
            meeting = lcm(d, e)
            if meeting // d < s and meeting // e < t:
                raise NotInjectiveError(
                    f"{operation}: the layout is not injective: it maps two coordinates to offset {meeting}; "
                    f"layout = {layout}"
                )
