"""Complement: the layout that fills the gaps another one leaves.

Definition: ``complement(A, M)`` is the layout R with sorted strides such that ``(A, R)`` is injective and its offsets
fill the interval [0, N), where N is the least whole number of periods of A that reaches M.

Theorem: R exists exactly if the non-zero strides of A, sorted, form a chain: each is a multiple of the extent times
the stride before it. (Two sets of offsets that add up to an interval without repetition alternate in a mixed radix;
de Bruijn 1956.) A's modes of stride 0 add no offsets and are left out.
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
from layoutalg.layouts.layout import Layout, need_integer_strides
from layoutalg.layouts.modes import AnyLayout, need_plain
from layoutalg.tuples.int_tuple import check_depth, flatten_tuple, product, safe_text
from layoutalg.tuples.leaf import as_leaf, ceil_div, divides, has_symbols, need_steps
from layoutalg.tuples.types import Shape


def complement(layout: Layout, cotarget: Shape | Layout = 1) -> Layout:
    """The sorted layout that, together with ``layout``, reaches each offset of an interval exactly once.

    Args:
        layout: a plain layout with non-negative integer strides.
        cotarget: how far to fill, in the unit of the offsets: an integer, a shape (its size), or a layout (its
            size). It is rounded up to whole periods of ``layout``. Default: the gaps inside only.

    Raises:
        NotInjectiveError: if ``layout`` reaches an offset twice by other than a stride of 0.
        NotDivisibleError: if its strides form no chain, so that no layout fills the gaps.
        LayoutError: if a stride is negative or a basis stride, or the cotarget is not positive.

    >>> print(complement(Layout(4, 2), 24), complement(Layout((2, 4), (1, 6)), 24))
    (2,3):(1,8) 3:2
    """
    layout = need_plain(layout, "complement")
    target = _target(cotarget)
    need_integer_strides(layout, "complement")
    extents, strides = filtered(layout)
    gaps: list[Any] = []
    steps: list[Any] = []
    period = 1  # everything below this offset is filled
    for d, s in sorted(zip(strides, extents, strict=True)):
        if d <= 0 or d < period or not divides(period, d):
            _refuse_stride(d, period, extents, strides, layout)
        if d != period:
            need_steps(s)  # a mode that is never stepped along would leave no gap
        gaps.append(d // period)
        steps.append(period)
        period = d * s
    gaps.append(ceil_div(target, period))
    steps.append(period)
    return from_flat(*merge(tuple(gaps), tuple(steps)))


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
    """Name the condition that fails: sign, injectivity, or the chain."""
    if min(strides) < 0:
        raise LayoutError(f"complement: strides must not be negative, found {min(strides)}; layout = {layout}")
    refuse_overlap("complement", list(zip(extents, strides, strict=True)), layout)
    raise NotDivisibleError(
        f"complement: stride {stride} must be a multiple of {period}, the period of the modes below it; "
        f"layout = {layout}"
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
