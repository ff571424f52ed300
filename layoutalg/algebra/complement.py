"""Complement: the layout that fills the gaps another one leaves.

Definition: ``complement(A, M)`` is the layout R, strides sorted, of offsets that fit between and beyond those of A:
each sum ``A(i) + R(j)`` is another offset, and whole periods of A and R reach M. The *period* of modes is the stride of
the largest times its extent. Where A has a mode of stride d above modes of period p, R steps by p as often as that fits
below d, ``d // p`` times.

Theorem: that R exists if and only if each stride of A, sorted, is at least the period of the modes below it; the sums
are unique then, since what lies below a stride stays below it. They fill an interval without gaps if and only if each
stride is a multiple of that period (two sets of offsets that add up to an interval alternate in a mixed radix; de
Bruijn 1956). Where it is none, as in shared memory that is padded to keep columns out of one bank, the padding stays
unused. A's modes of stride 0 add no offsets and are left out.
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
    """The sorted layout of offsets that fit between and beyond those of ``layout``, each sum of the two once.

    Args:
        layout: a plain layout with non-negative integer strides.
        cotarget: how far to go, in the unit of the offsets: an integer, a shape (its size), or a layout (its
            size). It is rounded up to whole periods of ``layout``. Default: the gaps inside only.

    Raises:
        NotInjectiveError: if ``layout`` reaches an offset twice by other than a stride of 0.
        NotDivisibleError: if its modes interleave, so that none of these layouts avoids them.
        LayoutError: if a stride is negative or a basis stride, or the cotarget is not positive.

    >>> print(complement(Layout(4, 2), 24), complement(Layout((2, 4), (1, 6)), 24))
    (2,3):(1,8) 3:2

    Columns of 64 that stand 72 apart:

    >>> print(complement(Layout((64, 64), (1, 72)), 16384))
    4:4608
    """
    return need_readable(gaps(need_plain(layout, "complement"), _target(cotarget))[0], "complement")


def gaps(layout: Layout, target: Any) -> tuple[Layout, bool]:
    """:func:`complement` of a plain layout up to ``target``, and whether the two together leave no offset out."""
    counts, steps, filled = _inside(layout)
    counts.append(ceil_div(target, steps[-1]))
    return from_flat(*merge(tuple(counts), tuple(steps))), filled


def room(layout: Layout, copies: Any) -> Layout:
    """The places for so many copies of a plain layout: its complement, as far as they reach.

    Up to the copies' elements that is not far enough where steps are padded, so that a period holds fewer copies.

    >>> print(complement(Layout((2, 2), (1, 6)), 4 * 9), room(Layout((2, 2), (1, 6)), 9))
    (3,3):(2,12) (3,3):(2,12)
    >>> print(complement(Layout((16, 3), (32, 6)), 48 * 8), room(Layout((16, 3), (32, 6)), 8))  # places 0 to 5, of 512
    6:1 (6,2):(1,512)
    """
    counts, steps, filled = _inside(layout)
    if filled:
        counts.append(ceil_div(product(layout.shape) * copies, steps[-1]))
    else:
        counts.append(ceil_div(copies, product(tuple(counts))))
    return from_flat(*merge(tuple(counts), tuple(steps)))


def _inside(layout: Layout) -> tuple[list[Any], list[Any], bool]:
    """How often, and by what, the complement steps inside a period; then the period; whether no offset is left out."""
    need_integer_strides(layout, "complement")
    extents, strides = filtered(layout)
    counts: list[Any] = []
    steps: list[Any] = []
    period = 1  # every sum of what was looked at so far lies below this offset
    filled = True
    for d, s in sorted(zip(strides, extents, strict=True)):
        if d <= 0 or d < period:
            _refuse_stride(d, period, extents, strides, layout)
        if d != period:
            need_steps(s)  # a mode that is never stepped along would leave no gap
            filled = filled and divides(period, d)
        counts.append(d // period)
        steps.append(period)
        period = d * s
    steps.append(period)
    return counts, steps, filled


def _target(cotarget: AnyLayout | Shape) -> int:
    """The number of offsets to fill."""
    if isinstance(cotarget, Layout):
        return product(cotarget.shape)
    if isinstance(cotarget, ComposedLayout):
        raise LayoutError(f"complement: the cotarget must be a shape or a plain layout, found {cotarget}")
    check_depth(cotarget, "complement: cotarget")
    leaves = [as_leaf(leaf, "complement: the cotarget") for leaf in flatten_tuple(cotarget)]
    if any(leaf < 1 for leaf in leaves):
        raise LayoutError(f"complement: the cotarget must be positive, found {safe_text(cotarget)}")
    return product(tuple(leaves))


def _refuse_stride(stride: Any, period: Any, extents: list[Any], strides: list[Any], layout: Layout) -> NoReturn:
    """Name the condition that fails: sign, injectivity, or modes that interleave."""
    if min(strides) < 0:
        raise LayoutError(f"complement: strides must not be negative, found {min(strides)}; layout = {layout}")
    refuse_overlap("complement", list(zip(extents, strides, strict=True)), layout)
    raise NotDivisibleError(
        f"complement: a mode's stride must not be less than {period}, the period of the modes below it, "
        f"found {stride}; layout = {layout}"
    )


def refuse_overlap(operation: str, modes: list[tuple[Any, Any]], layout: Layout) -> None:
    """Say so if two of the modes ``(extent, stride)`` share an offset besides 0.

    Raises:
        NotInjectiveError: naming the offset.
    """
    if has_symbols(leaf for mode in modes for leaf in mode):
        return
    for i, (s, d) in enumerate(modes):
        for t, e in modes[:i]:
            meeting = lcm(d, e)
            if meeting // d < s and meeting // e < t:
                raise NotInjectiveError(
                    f"{operation}: the layout must be injective, found offset {meeting} twice; layout = {layout}"
                )
