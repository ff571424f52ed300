"""The swizzles that tensor cores know by name, as permutations of byte addresses.

Law: a swizzle has at most one name. Source: PTX ISA 9.1, swizzling modes of wgmma and tcgen05; CUTLASS
``include/cute/atom/mma_traits_sm90_gmma.hpp``, ``mma_traits_sm100.hpp`` (Layout_*_Atom_Bits).

>>> [swizzle_mode(one) for one in SWIZZLE_MODES.values()] == list(SWIZZLE_MODES)
True
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutalg.errors import LayoutError
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import safe_text

#: Every mode that permutes, by its name; 128B_BASE32B is of sm100 alone.
SWIZZLE_MODES: Mapping[str, Swizzle] = {
    "32B": Swizzle(1, 4, 3),
    "64B": Swizzle(2, 4, 3),
    "128B": Swizzle(3, 4, 3),
    "128B_BASE32B": Swizzle(2, 5, 2),
}


def swizzle_mode(swizzle: Swizzle) -> str | None:
    """The name of the mode that a swizzle on byte addresses is; ``none`` for one that moves nothing, None for no mode.

    Raises:
        LayoutError: if it is no swizzle.

    >>> swizzle_mode(Swizzle(3, 4, 3)), swizzle_mode(Swizzle(0, 4, 3)), swizzle_mode(Swizzle(3, 4, 4))
    ('128B', 'none', None)
    """
    if not isinstance(swizzle, Swizzle):
        raise LayoutError(f"swizzle_mode: must be a swizzle, found {safe_text(swizzle)}")
    if not swizzle.bits:
        return "none"
    return next((name for name, one in SWIZZLE_MODES.items() if one == swizzle), None)
