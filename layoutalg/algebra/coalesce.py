"""The operations ``coalesce``, ``filter`` and ``filter_zeros``, which reduce the number of modes.

Invariant: the result of ``coalesce`` has the same size and the same offset at every index, no mode of extent 1 (unless
the size is 1), and no two neighboring modes that could be one mode. This form is unique: two layouts are the same
function of the index exactly if their coalesced forms are equal.
Proof, for all extents and strides: ``coalesce_law``, ``coalesce_coalesced`` and ``coalesced_unique`` in
``proofs/Coalesce.v``.
Source: CUTLASS ``include/cute/layout.hpp`` (coalesce, filter, filter_zeros).

>>> from layoutalg import Layout
>>> a = Layout((2, (1, 6)), (1, (6, 2)))
>>> print(coalesce(a), all(coalesce(a)(i) == a(i) for i in range(12)))
12:1 True
"""

from __future__ import annotations

from layoutalg.errors import LayoutError
from layoutalg.layouts.flat import filtered, from_flat, merge
from layoutalg.layouts.layout import Layout, trusted
from layoutalg.layouts.modes import LayoutKind, need_layout, through
from layoutalg.tuples.int_tuple import IntTuple, Shape, Stride, check_depth, flatten_tuple, safe_text
from layoutalg.tuples.scaled_basis import is_zero


def coalesce(layout: LayoutKind, target_profile: IntTuple | None = None) -> LayoutKind:
    """Return the layout with as few modes as possible that is the same function of the index.

    Args:
        layout: a layout; for a composed layout, the inner layout is coalesced.
        target_profile: if it is a tuple, each of its modes is coalesced separately (recursively), so that the
            coordinates of these modes stay valid. Its leaves are ignored. Modes beyond the tuple do not change.

    Raises:
        LayoutError: if the profile has more modes than the layout.

    >>> print(coalesce(Layout((2, (1, 6)), (1, (6, 2)))))
    12:1
    >>> print(coalesce(Layout((2, (1, 6)), (1, (6, 2))), target_profile=(1, 1)))
    (2,6):(1,2)
    """
    need_layout(layout, "coalesce")
    check_depth(target_profile, "coalesce: target_profile")
    if type(target_profile) is tuple and target_profile:
        return through(lambda plain: _by_profile(plain, target_profile), layout)
    return through(coalesce_plain, layout)


def coalesce_plain(layout: Layout) -> Layout:
    """Coalesce a plain layout without a profile."""
    if type(layout.shape) is not tuple:
        if layout.shape == 1:
            return trusted(1, 0)
        return trusted(layout.shape, 0) if type(layout.stride) is not int and is_zero(layout.stride) else layout
    if not layout.shape:
        return layout
    return from_flat(*merge(flatten_tuple(layout.shape), flatten_tuple(layout.stride)))


def _by_profile(layout: Layout, profile: IntTuple) -> Layout:
    if type(profile) is not tuple:
        return coalesce_plain(layout)
    if len(profile) > len(layout):
        raise LayoutError(
            f"coalesce: target_profile {safe_text(profile)} has {len(profile)} modes, more than the layout, which has "
            f"{len(layout)}; layout = {layout}"
        )
    parts = [_by_profile(mode, part) for mode, part in zip(layout, profile, strict=False)]
    parts += [layout[mode] for mode in range(len(profile), len(layout))]
    return trusted(tuple([part.shape for part in parts]), tuple([part.stride for part in parts]))


def filter_zeros(layout: LayoutKind, target_profile: Stride | None = None) -> LayoutKind:
    """Replace the extent of every mode of stride 0 by 1, which does not change the set of offsets.

    Args:
        layout: a layout; for a composed layout, the inner layout is filtered.
        target_profile: strides that are used instead of those of the layout, congruent to its shape.

    Raises:
        LayoutError: if the profile is not congruent to the shape.

    >>> print(filter_zeros(Layout((4, (2, 3)), (0, (1, 0)))))
    (1,(2,1)):(0,(1,0))
    """
    need_layout(layout, "filter_zeros")
    return through(
        lambda plain: trusted(
            _without_zeros(plain.shape, plain.stride if target_profile is None else target_profile, plain),
            plain.stride,
        ),
        layout,
    )


def _without_zeros(shape: Shape, stride: Stride, layout: Layout) -> Shape:
    if type(shape) is tuple:
        if type(stride) is not tuple or len(stride) != len(shape):
            raise LayoutError(
                f"filter_zeros: target_profile is not congruent to the shape: {safe_text(stride)} does not match "
                f"{safe_text(shape)}; layout = {layout}"
            )
        return tuple([_without_zeros(s, d, layout) for s, d in zip(shape, stride, strict=True)])
    return 1 if type(stride) is not tuple and is_zero(stride) else shape


def filter(layout: LayoutKind) -> LayoutKind:  # CuTe's name
    """Coalesce after removing the modes of stride 0 and of extent 1.

    >>> print(filter(Layout((4, (2, 3)), (0, (1, 2)))))
    6:1
    """
    need_layout(layout, "filter")
    return through(filter_plain, layout)


def filter_plain(layout: Layout) -> Layout:
    """Filter a plain layout; see :func:`filter`."""
    return from_flat(*filtered(layout))
