"""A tile, or what the tensor core reads of it, as one form: maps over digits, one for each mode, and an exclusive-or.

``at(c) = X(start + f1(c1) + f2(c2) + ...)``, in elements: each ``f`` a map over digits of one mode's index, and X the
exclusive-or of ``bits`` bits, of which the lowest is bit ``base``, with those ``shift`` above them, a number of lines
less. Both sides of a proof have this form: a layout with its swizzle, and the walk of the hardware.

Law: a layout's form gives the layout's values.

>>> from layoutalg import ComposedLayout, Layout, Swizzle
>>> tile = ComposedLayout(Swizzle(2, 3, 3), 16, Layout(((8, 3), 6, 2), ((8, 64), 1, 256)))
>>> form = stored(tile)
>>> all(at(form, (i, j, k)) == tile(i, j, k) for i in range(24) for j in range(6) for k in range(2))
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from descriptors.operands.swizzled import parts
from descriptors.theorem.digits import Digit, leaves, value
from layoutalg import ComposedLayout, Layout, Swizzle


class Affine(NamedTuple):
    """Maps over digits under one exclusive-or, in elements.

    Args:
        start: what is added to the maps.
        modes: the digits of each mode.
        xor: (bits, base, shift) of the exclusive-or; bits 0 for none.
        late: the number of lines that is subtracted from those that X reads, below ``2**bits``: a base offset.
    """

    start: Any
    modes: Sequence[Sequence[Digit]]
    xor: tuple[int, int, int] = (0, 0, 0)
    late: int = 0


def stored(tile: Layout | ComposedLayout) -> Affine:
    """A tile in this form.

    Raises:
        DescriptorError: if it is neither a plain layout nor a swizzle after one.

    >>> stored(Layout((8, (4, 2)), (1, (8, 64))))
    Affine(start=0, modes=[[(8, 1)], [(4, 8), (2, 64)]], xor=(0, 0, 0), late=0)
    """
    if isinstance(tile, ComposedLayout):  # the common case, without a closer look
        outer, offset, inner = tile.outer, tile.offset, tile.inner
        if type(outer) is Swizzle and outer.bits and type(inner) is Layout and type(offset) is int:
            return Affine(offset, modes(inner), (outer.bits, outer.base, outer.shift))
    rows, _, offset = parts(tile)
    return Affine(offset, modes(rows))


def modes(rows: Layout, unit: int = 1) -> list[list[Digit]]:
    """The digits of every mode of a plain layout, whose offsets count ``unit`` elements.

    >>> modes(Layout((8, (4, 2)), (1, (8, 64))))
    [[(8, 1)], [(4, 8), (2, 64)]]
    """
    shape: Any = rows.shape
    stride: Any = rows.stride
    if type(shape) is not tuple:
        shape, stride = (shape,), (stride,)
    if unit == 1:
        return [leaves(n, d) for n, d in zip(shape, stride, strict=True)]
    parts = zip(shape, stride, strict=True)
    return [[(extent, unit * step) for extent, step in leaves(n, d)] for n, d in parts]


def at(form: Affine, where: Sequence[int]) -> int:
    """The value at an index of each mode.

    >>> at(Affine(0, [[(8, 8)], [(8, 1)]], (1, 0, 3)), (3, 5))
    28
    """
    plain: int = form.start + sum(value(digits, index) for digits, index in zip(form.modes, where, strict=True))
    return permuted(form, plain)


def permuted(form: Affine, plain: int) -> int:
    """What the exclusive-or makes of an offset.

    >>> [permuted(Affine(0, [], (2, 0, 2), late), 4) for late in range(4)]
    [5, 4, 7, 6]
    """
    bits, base, shift = form.xor
    lines = (plain >> base + shift) - form.late
    return plain ^ (lines & (1 << bits) - 1) << base


def bounds(form: Affine) -> tuple[int, int]:
    """The least and the greatest sum, before the exclusive-or.

    >>> bounds(Affine(16, [[(8, 2)], [(4, -1)]]))
    (13, 30)
    """
    low = high = form.start
    for mode in form.modes:
        for extent, step in mode:
            if step < 0:
                low += (extent - 1) * step
            else:
                high += (extent - 1) * step
    return low, high
