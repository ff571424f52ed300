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

A layout with basis strides maps to coordinates, and its image is the product of its images along the modes of the
coordinate. Its complement is the complement along each of these modes; they are the modes of R.

Proof, for integer strides: ``complement_disjoint`` and ``complement_covers`` in ``proofs/Complement.v``, without the
converses.
Source: CUTLASS ``include/cute/layout.hpp`` (complement), CuTe documentation "Layout Algebra", complement.

>>> from layoutalg import Layout
>>> a = Layout((2, 2), (1, 6))
>>> rest = complement(a, 24)
>>> print(rest, sorted(a(i) + rest(j) for i in range(4) for j in range(6)) == list(range(24)))
(3,2):(2,12) True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import lcm
from typing import Any, NoReturn

from layoutalg.errors import LayoutError, NotDivisibleError, NotInjectiveError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.cosize import cosize
from layoutalg.layouts.flat import Flat, IndexedMode, axes, filtered, from_axes, from_flat, merge
from layoutalg.layouts.layout import Layout, has_basis, need_readable, trusted
from layoutalg.layouts.modes import AnyLayout, modes_of, need_plain
from layoutalg.tuples.int_tuple import Shape, check_depth, flatten_tuple, product, safe_text, unflatten
from layoutalg.tuples.leaf import LIMIT, as_leaf, ceil_div, divides, has_symbols, need_steps
from layoutalg.tuples.scaled_basis import ScaledBasis


def complement(layout: Layout, cotarget: Shape | Layout = 1) -> Layout:
    """Return the sorted layout of offsets that fit between and beyond those of ``layout``, so that all sums differ.

    Args:
        layout: a plain layout with non-negative strides.
        cotarget: the number of offsets to cover: an integer, or the size of a shape or layout. It is rounded up to
            whole periods of ``layout``. For basis strides, the extents of the coordinates to cover, mode by mode.
            Default: only the gaps inside ``layout``.

    Raises:
        NotInjectiveError: if ``layout`` maps two coordinates to one offset, other than by a stride of 0.
        NotDivisibleError: if a stride is less than the period of the modes below it.
        LayoutError: if a stride is negative, if integer strides are used beside basis strides, if the cotarget is not
            positive, or if it has one number where the basis strides name parts of a mode.

    >>> print(complement(Layout(4, 2), 24), complement(Layout((2, 4), (1, 6)), 24))
    (2,3):(1,8) 3:2

    Columns of 64 elements at a distance of 72 elements:

    >>> print(complement(Layout((64, 64), (1, 72)), 16384))
    4:4608

    Every second row of 128 rows and 64 columns:

    >>> from layoutalg import E
    >>> print(complement(Layout(64, 2 * E(0)), (128, 64)))
    (2,64):(1@0,1@1)
    """
    plain = need_plain(layout, "complement")
    extents = cotarget if type(cotarget) is int and 0 < cotarget <= LIMIT else _extents(cotarget)
    return need_readable(gaps(plain, extents if has_basis(plain) else product(extents))[0], "complement")


def gaps(layout: Layout, target: Any) -> tuple[Layout, bool]:
    """Return the complement of a plain layout up to ``target``, and whether the two together cover every offset.

    The target is a number of offsets; for basis strides, the extents of the coordinates, or 1.
    """
    if not has_basis(layout):
        counts, steps, filled = _inner_modes(filtered(layout), layout)
        counts.append(ceil_div(target, steps[-1]))
        return from_flat(*merge(tuple(counts), tuple(steps))), filled
    modes = axes(layout, "complement")
    targets = {} if target == 1 else dict(_extents_by_path(modes_of(target), (), modes, layout))
    parts = {}
    all_filled = True
    for path in {**targets, **modes}:
        counts, steps, filled = _inner_modes(_moving(modes.get(path, [])), layout)
        all_filled = all_filled and filled
        parts[path] = _along(path, [*counts, ceil_div(targets.get(path, 1), steps[-1])], steps)
    return from_axes(parts, trusted(1, 0)), all_filled


def _extents_by_path(
    extents: tuple[Shape, ...], prefix: tuple[int, ...], named: Iterable[tuple[int, ...]], layout: Layout
) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield the path and the extent of each mode that basis strides name, and of each leaf without such a mode.

    Raises:
        LayoutError: if basis strides name parts of a mode that is one number.
    """
    for position, extent in enumerate(extents):
        path = (*prefix, position)
        inside = path not in named and any(other[: len(path)] == path for other in named)
        if type(extent) is tuple and path not in named:
            yield from _extents_by_path(extent, path, named, layout)
        elif inside:
            raise LayoutError(
                f"complement: mode {path} of the cotarget is the number {extent}, but the basis strides name parts of "
                f"this mode; layout = {layout}"
            )
        else:
            yield path, product(extent)


def _moving(modes: list[IndexedMode]) -> Flat:
    """Return the extents and strides of the modes with a stride other than 0."""
    return [s for s, d, _ in modes if d != 0], [d for _, d, _ in modes if d != 0]


def _along(path: tuple[int, ...], counts: list[Any], steps: list[Any]) -> Layout:
    """Return the layout of these modes along one mode of the coordinate."""
    extents, strides = merge(tuple(counts), tuple(steps))
    if not extents:
        extents, strides = [1], [steps[-1]]
    return from_flat(extents, [ScaledBasis(stride, path) for stride in strides])


def room(layout: Layout, tiler: Layout) -> Layout:
    """Return the start offsets for the copies that the offsets of a tiler number: a complement, extended as needed.

    A complement up to the number of elements of all copies is not sufficient for a padded layout, because a period of
    it has room for fewer copies. For basis strides, the last mode of the coordinate is extended, as CuTe IR does; a
    tiler with basis strides numbers the copies along each mode of the coordinate.

    >>> print(complement(Layout((2, 2), (1, 6)), 4 * 9), room(Layout((2, 2), (1, 6)), Layout(9)))
    (3,3):(2,12) (3,3):(2,12)
    >>> print(complement(Layout((16, 3), (32, 6)), 48 * 8), room(Layout((16, 3), (32, 6)), Layout(8)))  # 6 per 512
    6:1 (6,2):(1,512)
    """
    if not has_basis(layout):
        counts, steps, filled = _inner_modes(filtered(layout), layout)
        if filled:
            counts.append(ceil_div(product(layout.shape) * cosize(tiler), steps[-1]))
        else:
            counts.append(ceil_div(cosize(tiler), product(tuple(counts))))
        return from_flat(*merge(tuple(counts), tuple(steps)))
    modes = axes(layout, "complement")
    reach: dict[tuple[int, ...], Any] = {}
    if has_basis(tiler):
        reach = {path: cosize(from_flat(*_moving(flat))) for path, flat in axes(tiler, "complement").items()}
    inner = {path: _inner_modes(_moving(modes.get(path, [])), layout) for path in sorted({**modes, **reach})}
    if not has_basis(tiler):
        others = product(tuple([product(tuple(counts)) for counts, _, _ in list(inner.values())[:-1]]))
        reach = {max(inner): ceil_div(cosize(tiler), others)}
    parts = {
        path: _along(path, [*counts, ceil_div(reach.get(path, 1), product(tuple(counts)))], steps)
        for path, (counts, steps, _) in inner.items()
    }
    return from_axes(parts, trusted(1, 0))


def _inner_modes(flat: Flat, layout: Layout) -> tuple[list[Any], list[Any], bool]:
    """Return the extents and strides of the complement inside one period of a layout.

    Args:
        flat: extents and strides, coalesced and without strides of 0.
        layout: the layout, for messages.

    Returns:
        The extents; the strides, followed by the period; and whether layout and complement together cover every offset
        of the period.
    """
    extents, strides = flat
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


def _extents(cotarget: AnyLayout | Shape) -> Shape:
    """Return the shape of the offsets or coordinates to cover.

    Raises:
        LayoutError: if the cotarget is a composed layout, or is not positive.
    """
    if isinstance(cotarget, Layout):
        return cotarget.shape
    if isinstance(cotarget, ComposedLayout):
        raise LayoutError(f"complement: the cotarget {cotarget} is neither a shape nor a plain layout")
    check_depth(cotarget, "complement: the cotarget")
    leaves = [as_leaf(leaf, "complement: the cotarget") for leaf in flatten_tuple(cotarget)]
    if any(leaf < 1 for leaf in leaves):
        raise LayoutError(f"complement: the cotarget {safe_text(cotarget)} is not positive")
    return unflatten(leaves, cotarget)  # type: ignore[no-any-return]


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
