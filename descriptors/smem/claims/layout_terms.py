"""Write layouts and swizzles as SMT-LIB terms, by CuTe's definitions.

``f(x) = x mod n0 * d0 + x div n0 mod n1 * d1 + x div (n0*n1) mod n2 * d2 + ...``, without a remainder for the last
extent, because a layout is defined beyond it. A swizzle S<b,m,s> xors bits m+s to m+s+b-1 of an offset into bits m to
m+b-1. Layouts are neither simplified nor coalesced here.
Source: CUTLASS documentation, CuTe layouts; ``cute/swizzle.hpp``.

>>> print(mode_term((8, (4, 2)), (64, (1, 512)), "x", INTEGERS))
(+ (* (mod x 8) 64) (mod (div x 8) 4) (* (div x 32) 512))
>>> print(swizzle_term((2, 3, 3), "x"))
(bvxor x (bvlshr (bvand x (_ bv192 32)) (_ bv3 32)))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from descriptors.smem.claims.terms import BITS, INTEGERS, Arithmetic

__all__ = ["INTEGERS", "leaves", "mode_term", "reach", "swizzle_term"]


def leaves(shape: Any, stride: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the extents of a mode with their strides, fastest first.

    >>> list(leaves((8, (4, 2)), (64, (1, 512))))
    [(8, 64), (4, 1), (2, 512)]
    """
    if isinstance(shape, tuple):
        for extent, step in zip(shape, stride, strict=True):
            yield from leaves(extent, step)
    else:
        yield shape, stride


def mode_term(shape: Any, stride: Any, index: str, by: Arithmetic) -> str:
    """Return the term of the offset at an index of a mode.

    Args:
        shape, stride: shape and stride of the mode, congruent; numbers, or polynomials in symbols.
        index: the term of the index.
        by: the arithmetic.
    """
    parts, below, extents = list[str](), 1, list(leaves(shape, stride))
    for number, (extent, step) in enumerate(extents):
        quotient = by.part(index, below)
        digit = quotient if number == len(extents) - 1 else by.rest(quotient, extent)
        if extent != 1 and step != 0:
            parts.append(by.product(digit, step))
        below = below * extent
    return by.sum(*parts)


def swizzle_term(swizzle: tuple[int, int, int], offset: str) -> str:
    """Return the term of an offset after a swizzle (bits, base, shift)."""
    bits, base, shift = swizzle
    read = BITS.number(((1 << bits) - 1) << base + shift)
    return f"(bvxor {offset} (bvlshr (bvand {offset} {read}) {BITS.number(shift)}))"


def reach(shape: Any, stride: Any) -> tuple[int, int]:
    """Return the smallest and the largest offset of a layout with numbers.

    >>> reach(((8, 4), 2), ((1, -8), 100))
    (-24, 107)
    """
    low = high = 0
    for extent, step in leaves(shape, stride):
        low, high = low + min((extent - 1) * step, 0), high + max((extent - 1) * step, 0)
    return low, high
