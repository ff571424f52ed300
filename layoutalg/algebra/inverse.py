"""The inverses of a layout, its nullspace, and the common contiguous part of two layouts.

Invariant: ``A(right_inverse(A)(i)) == i`` for every index i of the right inverse;
``A(left_inverse(A)(A(i))) == A(i)`` for every index i of A, and ``left_inverse(A)(A(i)) == i`` if A is injective;
``A(nullspace(A)(i)) == 0``; ``A(max_common_layout(A, B)(i)) == i == B(max_common_layout(A, B)(i))``.
Proof of the first two for plain injective layouts: ``right_inverse_law`` and ``left_inverse_law`` in
``proofs/Inverse.v``.
Source: CUTLASS ``include/cute/layout.hpp`` (right_inverse, left_inverse, nullspace, max_common_layout).

>>> from layoutalg import Layout
>>> a = Layout((4, 8), (8, 1))
>>> all(a(right_inverse(a)(i)) == i == left_inverse(a)(a(i)) for i in range(32))
True
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, zip_longest
from math import gcd, prod
from typing import Any

from layoutalg.algebra.complement import refuse_overlap
from layoutalg.errors import LayoutError, NotDivisibleError, NotInjectiveError, UndecidedError
from layoutalg.layouts.composed import ComposedLayout, is_swizzled, offset_bits
from layoutalg.layouts.cosize import cosize
from layoutalg.layouts.flat import IndexedMode, axes, from_axes, from_flat, merge
from layoutalg.layouts.layout import Layout, need_integer_strides, need_readable, trusted
from layoutalg.layouts.modes import AnyLayout, LayoutKind, need_layout, need_plain, size
from layoutalg.layouts.plain_composition import ExtendedLayout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import flatten_tuple, product
from layoutalg.tuples.leaf import as_flag, divides, equal, has_symbols, need_int, need_steps
from layoutalg.tuples.scaled_basis import is_zero


def right_inverse(layout: LayoutKind) -> LayoutKind:
    """Return the layout R of CuTe's form with ``layout(R(i)) == i``, which is an index for each offset from 0 on.

    R collects modes of the coalesced ``layout`` in a chain: the first has stride 1, and each further stride is the
    stride of the previous mode times its extent. R is ``1:0`` if there is no mode of stride 1. If two modes have the
    same stride, the first is used, as in CuTe. If the strides are distinct, no layout of this form is longer.

    For basis strides, there is such a chain for each mode of the coordinate: ``layout(R(c)) == c`` for every coordinate
    c of R.

    Args:
        layout: a layout, or a swizzle after a layout at offset 0, for which the result is a composed layout.

    Raises:
        LayoutError: for integer strides beside basis strides, and for other composed layouts.

    >>> from layoutalg import E
    >>> print(right_inverse(Layout((4, 8), (8, 1))), right_inverse(Layout((4, 5), (E(1), E(0)))))
    (8,4):(4,1) (5,4):(4,1)
    """
    if isinstance(need_layout(layout, "right_inverse"), ComposedLayout):
        return _inverse_of_swizzled(layout, "right_inverse", right_inverse_plain)  # type: ignore[return-value]
    return right_inverse_plain(need_plain(layout, "right_inverse"))  # type: ignore[return-value]


def right_inverse_plain(layout: Layout) -> Layout:
    """Return the right inverse of a plain layout; see :func:`right_inverse`."""
    modes = axes(layout, "right_inverse")
    if () in modes:
        return _right_inverse_of(modes[()])
    return from_axes({path: _right_inverse_of(flat) for path, flat in modes.items()}, trusted(1, 0))


def _right_inverse_of(flat: list[IndexedMode]) -> Layout:
    """Return the right inverse along one axis, of its modes in the order of the index."""
    extents: list[Any] = []
    strides: list[Any] = []
    modes: dict[Any, tuple[Any, Any]] = {}
    next_mode: Callable[..., tuple[Any, Any] | None] = dict.get
    for s, d, index in flat:
        if type(s) is not int or type(d) is not int:
            next_mode = _mode_by_proof
        modes.setdefault(d, (s, index))
    offset = 1
    while (mode := next_mode(modes, offset)) is not None:
        s, index = mode
        extents.append(s)
        strides.append(index)
        offset *= s
    return from_flat(*merge(tuple(extents), tuple(strides)))


def _mode_by_proof(modes: dict[Any, tuple[Any, Any]], offset: Any) -> tuple[Any, Any] | None:
    """Return the mode with this stride, for strides with symbols.

    Raises:
        UndecidedError: if it depends on the symbols whether a stride is equal.
    """
    return next((mode for stride, mode in modes.items() if equal(stride, offset)), None)


def left_inverse(layout: LayoutKind, *, strict: bool = False) -> LayoutKind:
    """Return the quasi-inverse R of CuTe's form, with ``layout(R(layout(i))) == layout(i)`` for every index i.

    If the layout is injective, R is its left inverse: ``R(layout(i)) == i``. If several indices have the same offset, R
    returns one of them; a mode of stride 0 is ignored, so that its coordinate is 0. As in :func:`composition`, both
    layouts extend beyond their last mode.

    Args:
        layout: a layout, or a swizzle after a layout at offset 0, for which the result is a composed layout. For basis
            strides, R maps a coordinate to the index.
        strict: whether to refuse a layout that is not injective, which has no left inverse.

    Raises:
        NotInjectiveError: if ``strict``, and two indices have the same offset; or if no R of CuTe's form returns one of
            several indices for every offset.
        NotDivisibleError: if a stride, sorted, is not a multiple of the previous one, so that no R has CuTe's form.
        LayoutError: for negative strides, for integer strides beside basis strides, and for other composed layouts.

    Source: CUTLASS ``include/cute/layout.hpp`` (left_inverse: "Build the quasi-inverse of a layout").

    >>> print(left_inverse(Layout((4, 8), (1, 5))), left_inverse(Layout(4, 2)), left_inverse(Layout((4, 8), (0, 1))))
    (5,8):(1,4) (2,4):(0,1) 8:4
    """
    if strict is not False:
        as_flag(strict, "left_inverse: strict")
    if isinstance(need_layout(layout, "left_inverse"), ComposedLayout):
        return _inverse_of_swizzled(layout, "left_inverse", lambda plain: left_inverse_plain(plain, strict))  # type: ignore[return-value]
    plain = need_plain(layout, "left_inverse")
    return need_readable(left_inverse_plain(plain, strict), "left_inverse")  # type: ignore[return-value]


def left_inverse_plain(layout: Layout, strict: bool = False) -> Layout:
    """Return the quasi-inverse of a plain layout; see :func:`left_inverse`."""
    if strict and product(nullspace(layout).shape) != 1:
        raise NotInjectiveError(f"left_inverse: the layout is not injective: it has stride 0; layout = {layout}")
    modes = axes(layout, "left_inverse")
    if () in modes:
        return _left_inverse_of(modes[()], layout, strict)
    return from_axes({path: _left_inverse_of(flat, layout, strict) for path, flat in modes.items()}, trusted(1, 0))


def _left_inverse_of(flat: list[IndexedMode], layout: Layout, strict: bool) -> Layout:
    """Return the quasi-inverse along one axis of a layout, of the modes of this axis in the order of the index."""
    modes = sorted([(d, index, s) for s, d, index in flat if d != 0])
    if modes and modes[0][0] < 0:
        raise LayoutError(f"left_inverse: stride {modes[0][0]} is negative; layout = {layout}")
    extents: list[Any] = []
    strides: list[Any] = []
    previous, count, weight = 1, 1, 0  # stride, extent and index stride of the mode below
    overlap = False
    for d, index, s in modes:
        period = previous * count
        aligned = divides(previous, d)
        if not aligned or d < period:
            overlap = aligned and not strict and not has_symbols((d, s, period))
            if not overlap:
                refuse_overlap("left_inverse", [(n, step) for step, _, n in modes], layout)
                fact = (
                    f"less than {period}, the period of the mode below it"
                    if aligned
                    else f"not a multiple of {previous}, the stride of the mode below it"
                )
                raise NotDivisibleError(f"left_inverse: stride {d} is {fact}; layout = {layout}")
        elif d != period:  # if an extent were 1, there would be no gap at this stride
            need_steps(s)
            if weight:
                need_steps(count)
        extents.append(d // previous)
        strides.append(weight)
        previous, count, weight = d, s, index
    if overlap:
        _need_digits(modes, layout)
    extents.append(count)
    strides.append(weight)
    return from_flat(*merge(tuple(extents), tuple(strides)))


def _need_digits(modes: list[tuple[int, int, int]], layout: Layout) -> None:
    """Check that a quasi-inverse of CuTe's form exists for modes that overlap: ``(stride, index, extent)``, sorted.

    The quasi-inverse splits an offset into digits, whose weights are the strides, and uses each digit as the coordinate
    of the mode of this stride. It is right if no digit reaches the extent of its mode. The largest digit is the sum of
    the modes up to this one, divided by the stride, or one less than the ratio to the next stride if this sum carries.
    The last mode of the layout has no bound, because it extends beyond its extent; a mode of extent 1 after it extends
    in its place, which is the same if its stride continues it.

    Raises:
        NotInjectiveError: if a digit reaches the extent of its mode.
    """
    total = product(layout.shape)
    last_extent, last_stride = flatten_tuple(layout.shape)[-1], flatten_tuple(layout.stride)[-1]
    ratios = [above // d for (d, _, _), (above, _, _) in pairwise(modes)]
    reach = 0
    for (d, index, s), ratio in zip_longest(modes, ratios):
        reach += (s - 1) * d
        largest = reach // d if ratio is None else min(reach // d, ratio - 1)
        extends = index * s == total and (last_extent != 1 or last_stride == s * d)
        if largest >= s and not extends:
            raise NotInjectiveError(
                f"left_inverse: the layout is not injective, and no quasi-inverse of CuTe's form exists, because an "
                f"offset needs {largest} steps of stride {d}, but the mode {s}:{d} has {s - 1}; layout = {layout}"
            )


def _inverse_of_swizzled(layout: Any, operation: str, inverse: Callable[[Layout], Layout]) -> ComposedLayout:
    """Return the inverse of S o L, which is the inverse of L after S, since a swizzle is its own inverse.

    Raises:
        LayoutError: if the layout has another form.
    """
    if not is_swizzled(layout) or layout.offset != 0:
        raise LayoutError(f"{operation}: {_NOT_SWIZZLED}; layout = {layout}")
    inner = inverse(layout.inner)
    domain = cosize(layout) if operation == "left_inverse" else _closed_range(layout.outer, size(inner))
    return ComposedLayout(inner, 0, ComposedLayout(layout.outer, 0, Layout(domain)))


_NOT_SWIZZLED = "the composed layout is not a swizzle after a plain layout at offset 0"


def _closed_range(swizzle: Swizzle, count: int) -> int:
    """Return the largest n <= count such that the swizzle maps 0 to n-1 to offsets below count.

    The swizzle permutes each aligned block whose size is the span of its fields, so only the last, incomplete block
    needs a check.

    Raises:
        UndecidedError: if the count contains symbols, or the last block is too large to examine.
    """
    block = 1 << (swizzle.bits + swizzle.base + abs(swizzle.shift))
    if has_symbols((count,)):
        if not swizzle.bits or divides(block, count):
            return count
        raise UndecidedError(
            f"right_inverse: cannot decide the domain, because the size {count} is neither a number nor a multiple of "
            f"{block}, the period of {swizzle}"
        )
    lowest_read = swizzle.source_mask & -swizzle.source_mask  # the swizzle does not change smaller offsets
    last_block = range(max(count - count % block, lowest_read), count) if swizzle.bits else range(0)
    if len(last_block) > 1 << 22:
        raise UndecidedError(
            f"right_inverse: cannot decide the domain, because that needs the swizzle of {len(last_block)} offsets, "
            f"more than {1 << 22}; swizzle = {swizzle}"
        )
    return next((i for i in last_block if swizzle(i) >= count), count)


def nullspace(layout: Layout) -> Layout:
    """Return the layout of the indices of the modes of stride 0; ``1:0`` if there is no such mode.

    Invariant: ``layout(nullspace(layout)(i)) == 0``.

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

    Adding an offset of the complement of R to these indices gives another run, which is as contiguous in a and in b as
    the first. For plain layouts with distinct strides, R is the longest layout of CuTe's form (:func:`right_inverse`).

    Args:
        a: a plain layout, or a swizzle after a plain layout.
        b: another one; only elements with an index in both layouts count.

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

    Invariant: the pairs ``(a(i), b(i))`` split into runs of this length, along which both offsets grow by one; the
    first run begins at offset 0. The alignment of the runs in memory depends on their first addresses and is not
    checked here. For plain layouts with distinct strides, no wider copy exists. For swizzled layouts, only runs of
    whole aligned blocks are considered: the result may be narrower than possible if an extent or a stride is not a
    power of two, or if the shift is negative.

    Args:
        a: a plain layout, or a swizzle after a plain layout.
        b: another one; only elements with an index in both layouts count.

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
            return length  # each run consists of blocks that the swizzle maps to themselves
        if sources > targets:  # the swizzle maps every aligned block to an aligned block
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
        targets: the bits that these bits are xored into.
        block: size of the aligned blocks inside which the swizzle keeps the order of the offsets; 0 if the swizzle
            changes no offset of the layout.
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
        """Return the length of the longest run of steps that stays in one mode if it starts at a multiple of the run.

        The result is 0 if there is no such run.
        """
        if self.total % step:
            return 0
        extent, _, index = next(mode for mode in reversed(self.modes) if mode[2] <= step)
        if step % index:
            return 0
        if index * extent > self.total:  # the common indices end inside this mode
            return self.total // step
        return gcd(extent // (step // index), self.total // step) if extent % (step // index) == 0 else 0

    def alignment(self, modes: list[tuple[int, int]]) -> int:
        """Return the greatest common divisor of the offsets at which runs begin; 0 if one run contains all elements.

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
            raise LayoutError(f"max_common_layout: {_NOT_SWIZZLED}; layout = {layout}")
        swizzle, plain = layout.outer, layout.inner  # type: ignore[assignment]
    need_integer_strides(plain, "max_common_layout")
    for leaf in (*flatten_tuple(plain.shape), *flatten_tuple(plain.stride)):
        need_int(leaf, "max_common_layout: an extent or stride")
    return swizzle, plain


def _common_modes(first: _Operand, second: _Operand) -> list[tuple[int, int]]:
    """Return extents and steps of the indices of the longest run that both plain layouts have in common everywhere."""
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
    """Return the length of the longest part of a run that no swizzle splits or reorders, wherever the run begins."""
    length = prod(count for count, _ in modes)
    for operand in operands:
        if operand.block:
            length = gcd(length, operand.block, operand.alignment(modes))
    return length


def _reordered_bits(first: _Operand, second: _Operand) -> tuple[int, int] | None:
    """Return the bits that two equal swizzles read and change if they reorder every run in the same way, else None."""
    sources, targets = first.sources | second.sources, first.targets | second.targets
    if first.swizzle != second.swizzle and (first.sources, first.targets) != (second.sources, second.targets):
        return None
    if first.modes == second.modes:
        return sources, targets
    # The swizzle changes two offsets by the same distance if they agree in all bits up to its highest bit.
    period = 1 << max(sources, targets).bit_length()
    shapes = [flatten_tuple(operand.layout.shape) for operand in (first, second)]
    strides = [flatten_tuple(operand.layout.stride) for operand in (first, second)]
    agree = shapes[0] == shapes[1] and all(
        extent == 1 or (d - e) % period == 0 for extent, d, e in zip(shapes[0], *strides, strict=True)
    )
    return (sources, targets) if agree else None
