"""The tile that an exercise names, derived for wgmma.

Law: it is the derivation of its five arguments.

>>> derived_tile((64, 64), "bf16", "K", "128B", (64, 16)).descriptor.encode() == 0x4000004000010000
True
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive
from descriptors.smem.operands.operand import MajorName, as_major, as_swizzle_mode


def derived_tile(
    tile: Sequence[int],
    dtype: str,
    major: MajorName,
    swizzle: str,
    mma: Sequence[int],
    order: Sequence[int] | None = None,
) -> Derivation:
    """The derivation of a tile for sm90; an item asks for it once for each of its answers.

    Args:
        tile: MN and K, in elements.
        dtype: type of the elements.
        major: ``K`` or ``MN``.
        swizzle: mode, as ``128B``.
        mma: MN and K that one instruction reads.
        order: stacking order of the atoms.

    Raises:
        DescriptorError: if it cannot be derived.
    """
    return _derived(tuple(tile), dtype, major, swizzle, tuple(mma), None if order is None else tuple(order))


@lru_cache(maxsize=512)
def _derived(
    tile: tuple[int, ...],
    dtype: str,
    major: MajorName,
    swizzle: str,
    mma: tuple[int, ...],
    order: tuple[int, ...] | None,
) -> Derivation:
    return derive(tile, dtype, as_major(major), as_swizzle_mode(swizzle), mma, arch="sm90", order=order)
