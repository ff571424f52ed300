"""The copy model permutes pieces within rows of 128 bytes."""

from __future__ import annotations

from descriptors.smem.tma.copy_model import landing_bits
from descriptors.smem.words.tensor_map import SWIZZLES
from layoutalg import Swizzle


def test_the_model_permutes_pieces_within_rows_of_128_bytes() -> None:
    """Against `Swizzle` on byte addresses, at destinations on and off the pattern."""
    for mode, (_, code) in SWIZZLES.items():
        swizzle = mode.swizzle or Swizzle(0, 4, 3)
        for start in (0, 128, 896, 1024, 4224):
            bits = landing_bits((mode.span_bytes, 64), [start], bits=8, swizzle=code)[0]
            assert bits.tolist() == [8 * swizzle(start + i) for i in range(mode.span_bytes * 64)]
