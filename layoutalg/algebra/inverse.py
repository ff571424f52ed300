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
from math import gcd, prod
from typing import Any

from layoutalg.algebra.coalesce import coalesce_plain
from layoutalg.algebra.complement import refuse_overlap
from layoutalg.errors import LayoutError, NotDivisibleError, NotInjectiveError, UndecidedError
from layoutalg.layouts.composed import ComposedLayout, is_swizzled, offset_bits
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
    if has_symbols((count,)):
        if not swizzle.bits or divides(block, count):
            return count
        raise UndecidedError(
            f"right_inverse: the size must be a number or a multiple of {block}, the period of {swizzle}, found {count}"
        )
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
    """Return the layout R with ``a(R(i)) == i == b(R(i))`` whose copies tile both layouts: the indices of one run.

    Indices that differ by an offset of R's complement form another run, which is as contiguous in a and in b as the
    first. R is the longest of CuTe's form for plain layouts whose strides are distinct (:func:`right_inverse`).

    Args:
        a: a layout, plain or a swizzle after one.
        b: likewise; the elements are those with an index in both.

    Raises:
        LayoutError: for other composed layouts and for basis strides.

    >>> print(max_common_layout(Layout((4, 8), (1, 4)), Layout((4, 8), (1, 8))))
    4:1
    """
    first, second = _operands(a, b)
    extents: list[int] = []
    steps: list[int] = []
    modes = _common_modes(first, second)
    bound = _unbroken_run(modes, (first, second))
    for count, step in modes:
        extent = gcd(count, bound)
        extents.append(extent)
        steps.append(step)
        bound //= extent
        if extent < count:
            break
    return from_flat(*merge(tuple(extents), tuple(steps)))


def max_common_vector(a: AnyLayout, b: AnyLayout) -> int:
    """Return the width of the widest copy between two layouts, in elements.

    Law: the pairs ``(a(i), b(i))`` split into runs of this length, along which both offsets grow by one; the first run
    begins at offset 0. The alignment of the runs in memory depends on their first addresses and is not checked here.
    For plain layouts whose strides are distinct no wider copy exists. For swizzled layouts only runs of whole aligned
    blocks are considered: the result may be narrower than possible where an extent or a stride is no power of two, or
    where the shift is negative.

    Args:
        a: a layout, plain or a swizzle after one.
        b: likewise; the elements are those with an index in both.

    >>> max_common_vector(Layout((4, 8), (1, 4)), Layout((4, 8), (1, 8)))
    4
    >>> tile = Layout((8, 64), (64, 1))
    >>> max_common_vector(ComposedLayout(Swizzle(3, 4, 3), 0, tile), tile)
    16
    """
    first, second = _operands(a, b)
    modes = _common_modes(first, second)
    if first.block and second.block and (bits := _reordered_bits(first, second)) is not None:
        length = prod(count for count, _ in modes)
        start = gcd(first.alignment(modes), second.alignment(modes))
        sources, targets = bits
        if gcd(length, start) % (1 << targets.bit_length()) == 0:
            return length  # each run is made of blocks that the swizzle maps to themselves
        if sources > targets:  # and maps every aligned block to one
            return gcd(length, start) & -gcd(length, start)
    return _unbroken_run(modes, (first, second))


class _Operand:
    """An operand of :func:`max_common_layout`: a swizzle after a plain layout, or a plain layout alone.

    Attributes:
        swizzle: the swizzle, of no bits for a plain layout.
        layout: the plain layout.
        modes: the modes of the plain layout that the common indices reach: extent, stride, index of the second element.
        total: the number of indices that the two operands have in common.
        sources: the bits of the swizzle that some offset of the layout may have.
        targets: the bits that these change.
        block: aligned blocks of this many offsets keep their order; 0 if the swizzle changes no offset of the layout.
    """

    def __init__(self, swizzle: Swizzle, layout: Layout, total: int) -> None:
        self.swizzle = swizzle
        self.layout = layout
        self.total = total
        self.modes: list[tuple[int, int, int]] = []
        index = 1
        flat = merge(flatten_tuple(layout.shape), flatten_tuple(layout.stride))
        for extent, stride in zip(*flat, strict=True):
            if index < total:
                reached = total // index if index * extent > total and total % index == 0 else extent
                self.modes.append((reached, stride, index))
            index *= extent
        bits: int | None = 0
        if swizzle.bits:
            bits = offset_bits(Layout(tuple(mode[0] for mode in self.modes), tuple(mode[1] for mode in self.modes)))
        self.sources = swizzle.source_mask & (-1 if bits is None else bits)
        self.targets = self.sources >> swizzle.shift if swizzle.shift >= 0 else self.sources << -swizzle.shift
        lower = min(self.sources, self.targets)
        self.block = lower & -lower

    def length(self, step: int) -> int:
        """Return the longest run of steps that stays in one mode from every multiple of the run on; 0 without one."""
        if self.total % step:
            return 0
        extent, _, index = next(mode for mode in reversed(self.modes) if mode[2] <= step)
        if step % index:
            return 0
        if index * extent > self.total:  # the common indices end inside of this mode
            return self.total // step
        return gcd(extent // (step // index), self.total // step) if extent % (step // index) == 0 else 0

    def alignment(self, modes: list[tuple[int, int]]) -> int:
        """Return the greatest common divisor of the offsets at which runs begin; 0 if one run has all elements.

        Args:
            modes: extents and steps of the indices of a run.
        """
        common = 0
        for extent, stride, index in self.modes:
            runs = ((step // index, count) for count, step in modes if index <= step < index * extent)
            below, used = next(runs, (1, 1))
            common = gcd(common, stride if below > 1 else 0, stride * below * used if extent > below * used else 0)
        return common


def _operands(a: AnyLayout, b: AnyLayout) -> tuple[_Operand, _Operand]:
    """Return both operands, restricted to the indices that they have in common."""
    parts = [_swizzle_and_layout(a), _swizzle_and_layout(b)]
    total = min(size(layout) for _, layout in parts)
    first, second = (_Operand(swizzle, layout, total) for swizzle, layout in parts)
    return first, second


def _swizzle_and_layout(layout: AnyLayout) -> tuple[Swizzle, Layout]:
    """Return the swizzle of an operand (of no bits for a plain layout) and the plain layout."""
    swizzle = Swizzle(0, 0, 0)
    plain: Any = need_layout(layout, "max_common_layout")
    if isinstance(layout, ComposedLayout):
        if not is_swizzled(layout) or layout.offset != 0:
            raise LayoutError(
                f"max_common_layout: a composed layout must be a swizzle after a plain layout at offset 0; "
                f"layout = {layout}"
            )
        swizzle, plain = layout.outer, layout.inner  # type: ignore[assignment]
    need_integer_strides(plain, "max_common_layout")
    for leaf in (*flatten_tuple(plain.shape), *flatten_tuple(plain.stride)):
        need_int(leaf, "max_common_layout: an extent or stride")
    return swizzle, plain


def _common_modes(first: _Operand, second: _Operand) -> list[tuple[int, int]]:
    """Return extents and steps of the indices of the longest run that the plain layouts have in common everywhere."""
    inverse = right_inverse_plain(second.layout)
    function = ExtendedLayout([mode[0] for mode in first.modes] or [1], [mode[1] for mode in first.modes] or [0])
    modes: list[tuple[int, int]] = []
    offset = 1
    for extent, step in zip(flatten_tuple(inverse.shape), flatten_tuple(inverse.stride), strict=True):
        if step == 0 or step >= first.total or function(step) != offset:
            break
        count = gcd(first.length(step), second.length(step))
        if count < 2:
            break
        modes.append((count, step))
        offset *= count
        if count < extent:
            break
    return modes


def _unbroken_run(modes: list[tuple[int, int]], operands: tuple[_Operand, ...]) -> int:
    """Return the length of the longest part of a run that no swizzle breaks or reorders, wherever the run begins."""
    length = prod(count for count, _ in modes)
    for operand in operands:
        if operand.block:
            length = gcd(length, operand.block, operand.alignment(modes))
    return length


def _reordered_bits(first: _Operand, second: _Operand) -> tuple[int, int] | None:
    """Return the bits that two equal swizzles read and change if they reorder every run alike, and otherwise None."""
    sources, targets = first.sources | second.sources, first.targets | second.targets
    if first.swizzle != second.swizzle and (first.sources, first.targets) != (second.sources, second.targets):
        return None
    if first.modes == second.modes:
        return sources, targets
    # Offsets that agree in the bits below the highest one of the swizzle are moved by the same distance.
    period = 1 << max(sources, targets).bit_length()
    shapes = [flatten_tuple(operand.layout.shape) for operand in (first, second)]
    strides = [flatten_tuple(operand.layout.stride) for operand in (first, second)]
    agree = shapes[0] == shapes[1] and all(
        extent == 1 or (d - e) % period == 0 for extent, d, e in zip(shapes[0], *strides, strict=True)
    )
    return (sources, targets) if agree else None
