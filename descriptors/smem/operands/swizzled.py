"""Split a swizzled layout into its plain layout and its swizzle, and recognize the swizzle mode of the hardware.

Invariant: the swizzle of a mode on the elements of any type is recognized as that mode.

>>> from descriptors.smem.operands.operand import ELEMENT_TYPES
>>> cases = [(mode, element) for mode in SwizzleMode for element in ELEMENT_TYPES.values()]
>>> all(recognize(swizzle_on_elements(mode, element), element.storage_bits, "") is mode for mode, element in cases)
True
"""

from __future__ import annotations

from math import log2

from descriptors.errors import Advice, DescriptorError, NotCanonicalError, brief
from descriptors.smem.operands.operand import LINE_BYTES, ElementType, SwizzleMode
from layoutalg import ComposedLayout, Layout, Swizzle


def plain(layout: Layout | ComposedLayout) -> Layout:
    """Return a layout without its swizzle, which gives the offsets before the permutation.

    >>> from layoutalg import Swizzle
    >>> print(plain(ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))))
    (8,64):(64,1)
    """
    while isinstance(layout, ComposedLayout):
        layout = layout.inner
    return layout


def start_of(layout: Layout | ComposedLayout) -> int:
    """Return the offset that a layout adds before its swizzle, in its own unit; 0 for a plain layout.

    >>> from layoutalg import Swizzle
    >>> start_of(ComposedLayout(Swizzle(3, 3, 3), 16, Layout((8, 64), (64, 1)))), start_of(Layout(8))
    (16, 0)
    """
    return layout.offset if isinstance(layout, ComposedLayout) else 0


def around(layout: Layout | ComposedLayout, inner: Layout | ComposedLayout) -> Layout | ComposedLayout:
    """Apply the swizzle and offset of ``layout``, if it has them, to another layout.

    Invariant: ``around(layout, plain(layout)) == layout``, for a plain layout or a swizzle after one.

    >>> from layoutalg import Swizzle
    >>> print(around(ComposedLayout(Swizzle(3, 3, 3), 16, Layout((8, 64), (64, 1))), Layout((64, 8), (1, 64))))
    S<3,3,3> o 16 o (64,8):(1,64)
    """
    return ComposedLayout(layout.outer, layout.offset, inner) if isinstance(layout, ComposedLayout) else inner


def swizzle_on_elements(mode: SwizzleMode, element: ElementType) -> Swizzle:
    """Return the permutation of a mode, on offsets counted in elements.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> print(swizzle_on_elements(SwizzleMode.B64, as_element_type("e2m1")))
    S<2,5,3>
    """
    swizzle = mode.swizzle
    if swizzle is None:
        return Swizzle(0, 4, 3)  # as CuTe writes it
    return Swizzle(swizzle.bits, swizzle.base - _shift(element.storage_bits), swizzle.shift)


def recognize(swizzle: Swizzle, unit_bits: int, layout: object) -> SwizzleMode:
    """Return the swizzle mode of a swizzle on offsets counted in a unit.

    Args:
        swizzle: the permutation of offsets.
        unit_bits: bits of one unit of those offsets.
        layout: the layout that has the swizzle, for the error message.

    Raises:
        NotCanonicalError: if the hardware has no such swizzle; the error names the nearest mode.

    >>> recognize(Swizzle(3, 3, 3), 16, "")
    SwizzleMode.B128
    """
    if swizzle.bits == 0:
        return SwizzleMode.NONE
    base = swizzle.base + _shift(unit_bits)
    modes = [mode for mode in SwizzleMode if mode.swizzle is not None]

    def distance(mode: SwizzleMode) -> tuple[int, int]:
        of_mode = mode.swizzle
        assert of_mode is not None
        apart = abs(of_mode.bits - swizzle.bits), abs(of_mode.base - base), abs(of_mode.shift - swizzle.shift)
        return sum(map(bool, apart)), sum(apart)

    nearest = min(modes, key=distance)
    if distance(nearest) == (0, 0):
        return nearest
    on_bytes = nearest.swizzle
    assert on_bytes is not None
    on_units = Swizzle(on_bytes.bits, on_bytes.base - _shift(unit_bits), on_bytes.shift)
    nearest_text = f"{on_units} on units of {unit_bits} bits"
    error = NotCanonicalError(
        form=f"{nearest}, {on_bytes} on bytes",
        mode=None,
        expected=nearest_text,
        found=f"{swizzle}, on bytes {_swizzle_text(swizzle.bits, base, swizzle.shift)}",
        layout=str(layout),
        why=f"{swizzle} on units of {unit_bits} bits is not a swizzle of the hardware",
    )
    # CuTe prints the swizzle of a pointer on byte addresses.
    error.proposals = (Advice({"unit": "cute"}, "if CuTe printed the layout"),)
    raise error


def pattern_warning(start: int, mode: SwizzleMode, *, at_tile: bool) -> str:
    """Return a warning if a swizzle pattern starts at an address where TMA and CuTe do not start one, or "".

    Args:
        start: address where the pattern starts, in bytes.
        mode: the swizzle mode.
        at_tile: whether the tile starts at the same address.

    >>> pattern_warning(0x400, SwizzleMode.B128, at_tile=True)
    ''
    """
    period = mode.alignment_bytes
    if mode is SwizzleMode.NONE or start % period == 0:
        return ""
    rows = start // LINE_BYTES % 8
    where = "the tile" if at_tile else f"{start:#x}"
    return (
        f"{'base' if at_tile else 'pattern start'} {start} is not a multiple of {period}, so base_offset is {rows} and "
        f"the swizzle pattern starts at {where}; neither TMA nor CuTe writes such a tile"
    )


def _shift(unit_bits: int) -> int:
    """Return log2 of the unit in bytes (-1 for 4 bits): the difference of a swizzle's base on bytes and on units."""
    return round(log2(unit_bits)) - 3


def _swizzle_text(bits: int, base: int, shift: int) -> str:
    """Write a swizzle that may have a negative base, which ``Swizzle`` does not accept."""
    return f"S<{bits},{base},{shift}>"


def parts(layout: object) -> tuple[Layout, Swizzle | None, int]:
    """Return the plain layout, its swizzle (None if absent or without bits) and the offset between the two.

    Raises:
        DescriptorError: if the operand is neither a plain layout nor a swizzle after one.

    >>> parts(ComposedLayout(Swizzle(3, 3, 3), 16, Layout((8, 64), (64, 1))))
    (Layout((8, 64), (64, 1)), Swizzle(3, 3, 3), 16)
    """
    match layout:
        case Layout():
            return layout, None, 0
        case ComposedLayout(outer=Swizzle() as swizzle, offset=int(offset), inner=Layout() as rows):
            return rows, swizzle if swizzle.bits else None, offset
        case ComposedLayout():
            text = str(layout)
        case _:
            text = brief(layout)
    raise DescriptorError(f"operand: {text} is not a plain layout, nor a swizzle after a plain layout")


def stored_text(layout: Layout | ComposedLayout, element: ElementType) -> str:
    """Write where elements are stored: the whole layout, and which swizzle is applied to which plain layout.

    Args:
        layout: in elements: plain, or a swizzle mode after a plain layout.
        element: the element type.

    >>> from descriptors.smem.operands.operand import as_element_type
    >>> bf16 = as_element_type("bf16")
    >>> print(stored_text(Layout((8, 64), (64, 1)), bf16))
    (8,64):(64,1): no swizzle
    >>> print(stored_text(ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1))), bf16))
    S<3,3,3> o 0 o (8,64):(64,1): swizzle 128B applied to (8,64):(64,1)
    """
    rows, swizzle, _ = parts(layout)
    if swizzle is None:
        return f"{layout}: no swizzle"
    return f"{layout}: swizzle {recognize(swizzle, element.storage_bits, layout)} applied to {rows}"
