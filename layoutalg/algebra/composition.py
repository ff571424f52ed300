"""The operation ``composition`` for plain layouts, composed layouts, swizzles and tilers.

Definition: ``composition(a, b)`` is the layout R whose shape refines that of b leaf by leaf, with
``R(i) == a(b(i))`` for every index i of b. :mod:`layoutalg.layouts.plain_composition` decides if R exists for plain
layouts, and computes it. If a is a swizzle or a composed layout, the result is a composed layout.
Proof that R exists exactly if each mode of b alone has a layout and ``a(b)`` is additive over the modes of b:
``composition_exists`` in ``proofs/Composition.v``.
Source: CUTLASS ``include/cute/layout.hpp`` (composition), ``include/cute/swizzle_layout.hpp``.

>>> from layoutalg import Layout, Swizzle
>>> a, b = composition(Swizzle(2, 1, 3), Layout((8, 8), (8, 1))), Layout((4, 4), (2, 16))
>>> r = composition(a, b)
>>> print(r, all(r(i) == a(b(i)) for i in range(16)))
S<2,1,3> o 0 o (4,4):(16,2) True
"""

from __future__ import annotations

from typing import Any, overload

from layoutalg.errors import LayoutError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.flat import cut
from layoutalg.layouts.layout import Layout, need_readable, trusted
from layoutalg.layouts.modes import AnyLayout, LayoutKind, Tiler
from layoutalg.layouts.number_composition import quick_composition
from layoutalg.layouts.plain_composition import compose_carefully, compose_plain
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import Shape, check_depth, flatten_tuple, safe_text
from layoutalg.tuples.leaf import as_leaf


@overload
def composition(a: Layout, b: Tiler) -> Layout: ...
@overload
def composition(a: Layout, b: ComposedLayout | Swizzle) -> ComposedLayout: ...
@overload
def composition(a: ComposedLayout, b: AnyLayout | Swizzle | Tiler) -> ComposedLayout: ...
@overload
def composition(a: Swizzle, b: AnyLayout) -> ComposedLayout: ...
@overload
def composition(a: AnyLayout | Swizzle, b: AnyLayout | Swizzle | Tiler) -> AnyLayout: ...
def composition(a: Any, b: Any) -> AnyLayout:
    """Return the layout ``i -> a(b(i))``, with the profile of b.

    Args:
        a: a layout, a composed layout (its inner layout is composed), or a swizzle.
        b: the layout that indexes a; a swizzle; or a tiler, which is an integer n (for ``n:1``) or a tuple with a tiler
            for each of the first modes of a. ``None`` in the tuple keeps a mode. Modes of a beyond the tuple are
            dropped, as in CuTe. Basis strides in b address the modes of a.

    Raises:
        NotDivisibleError: if this function is not a layout; the message gives an index that shows it.
        LayoutError: if an operand has another type, or a tiler has more modes than a.
        UndecidedError: if the decision depends on symbols, or needs more than a million comparisons.

    >>> print(composition(Layout((4, 8), (8, 1)), Layout((2, 4), (1, 4))))
    (2,4):(8,1)
    >>> print(composition(Layout((8, 8), (8, 1)), (2, None)))
    (2,8):(8,1)
    >>> composition(Layout((6, 2), (1, 7)), Layout((3, 2), (2, 3)))
    Traceback (most recent call last):
    layoutalg.errors.NotDivisibleError: composition: the result is not a layout: at coordinate (2,1) of b, \
a(4 + 3) = 8, but a(4) + a(3) = 7; a = (6,2):(1,7), b = (3,2):(2,3)
    """
    if type(a) is Layout and type(b) is Layout:
        layout = quick_composition(a, b)
        return need_readable(compose_carefully(a, b), "composition") if layout is None else layout
    result = _composed(a, b)
    return need_readable(result, "composition") if isinstance(result, Layout) else result


def _composed(a: Any, b: Any) -> AnyLayout:
    """Compose without checking that the result fits in 64 bits."""
    if isinstance(a, Layout):
        if isinstance(b, Layout):
            return compose_plain(a, b)
        if b is None:
            return a
        if type(b) is tuple:
            check_depth(b, "composition: the tiler")
            return _by_mode(a, b)
        if isinstance(b, ComposedLayout):
            return ComposedLayout(a, 0, b)
        if isinstance(b, Swizzle):
            return compose_swizzle(a, b)
        halves = cut(a, b) if type(b) is int and b > 0 else None
        return trusted(*halves[0]) if halves else compose_plain(a, Layout(as_leaf(b, "composition: a tiler")))
    if isinstance(a, ComposedLayout):
        return ComposedLayout(a.outer, a.offset, composition(a.inner, b))
    if isinstance(a, Swizzle) and isinstance(b, (Layout, ComposedLayout)):
        return ComposedLayout(a, 0, b)
    raise LayoutError(f"composition: {safe_text(a)} cannot be composed with {safe_text(b)}")


def _by_mode(a: Layout, tiler: tuple[Any, ...]) -> Layout:
    """Compose each of the first modes of a with its own tiler."""
    if len(tiler) > len(a):
        raise LayoutError(
            f"composition: tiler {safe_text(tiler)} has {len(tiler)} modes, more than a, which has {len(a)}; a = {a}"
        )
    parts = []
    for mode, tile in zip(a, tiler, strict=False):
        part = _composed(mode, tile)
        if not isinstance(part, Layout):
            raise LayoutError(f"composition: {tile}, a mode of the tiler, is not a plain layout; a = {a}")
        parts.append(part)
    return trusted(tuple([part.shape for part in parts]), tuple([part.stride for part in parts]))


def with_shape(layout: LayoutKind, shape: Shape) -> LayoutKind:
    """Return the layout with another shape: the composition with the compact layout of the shape.

    Invariant: ``with_shape(layout, shape)(i) == layout(i)`` for every index i of the shape.

    Raises:
        NotDivisibleError: if no layout of this shape is the same function of the index.
        LayoutError: as :func:`composition`.

    Source: CUTLASS ``include/cute/layout.hpp`` (Layout::with_shape).

    >>> print(with_shape(Layout(32, 2), (4, 8)), with_shape(Layout((8, 4), (4, 1)), (2, 16)))
    (4,8):(2,8) (2,(4,4)):(4,(8,1))
    """
    return composition(layout, Layout(shape))  # type: ignore[return-value]  # of the kind of its first operand


def compose_swizzle(a: Layout, swizzle: Swizzle) -> ComposedLayout:
    """Return the composed layout ``x -> a(swizzle(x))``, with the profile of a.

    If a maps the two bit fields of the swizzle to two bit fields of its offsets, the result is a swizzle after a, which
    is CuTe's form. Otherwise it is a after the swizzle after the compact layout of the shape of a.

    >>> print(compose_swizzle(Layout((8, 64), (1, 8)), Swizzle(3, 0, 3)))
    S<3,0,3> o 0 o (8,64):(1,8)
    """
    moved_swizzle = _move_swizzle(a, swizzle)
    if moved_swizzle is not None:
        return ComposedLayout(moved_swizzle, 0, a)
    return ComposedLayout(a, 0, ComposedLayout(swizzle, 0, Layout(a.shape)))


def _move_swizzle(a: Layout, swizzle: Swizzle) -> Swizzle | None:
    """Return the swizzle S' with ``S'(a(x)) == a(swizzle(x))`` for every index x of a, or None if it is not found."""
    modes = list(zip(flatten_tuple(a.shape), flatten_tuple(a.stride), strict=True))
    powers = [n & (n - 1) == 0 and isinstance(d, int) and d >= 0 and d & (d - 1) == 0 for n, d in modes]
    if not all(powers):
        return None
    images = [d << j for n, d in modes for j in range(n.bit_length() - 1)]  # the offset of each bit of the index
    covered = 0
    for image in images:
        if image == 0 or covered & image:
            return None  # not a permutation of bits, so not linear over xor
        covered |= image
    if swizzle.bits == 0 or swizzle.source_mask >> len(images) or swizzle.target_mask >> len(images):
        return swizzle if swizzle.bits == 0 else None
    source, target = (mask.bit_length() - swizzle.bits for mask in (swizzle.source_mask, swizzle.target_mask))
    to_source, to_target = images[source].bit_length() - 1, images[target].bit_length() - 1
    for j in range(swizzle.bits):
        if images[source + j] != 1 << (to_source + j) or images[target + j] != 1 << (to_target + j):
            return None
    return Swizzle(swizzle.bits, min(to_source, to_target), to_source - to_target)
