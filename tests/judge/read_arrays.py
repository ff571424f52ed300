"""The read model a second time, by arrays, as PTX states it element by element: the judge of the one in the product.

It shares no code with that one. Of every element (i, k) it adds up the offset by the formulas of the PTX ISA and takes
the exclusive-or; nothing is checked, so that it may only be asked of words and operands that have a meaning.
Source: PTX ISA 9.1, matrix descriptors and canonical layouts of wgmma and tcgen05; CUTLASS for absolute addresses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Row in bytes, bits of the exclusive-or, how far its target lies below line numbers, and rows of k, by swizzle code.
_SWIZZLES = {
    "sm90": {0: (16, 0, 3, 8), 1: (128, 3, 3, 8), 2: (64, 2, 3, 8), 3: (32, 1, 3, 8)},
    "sm100": {0: (16, 0, 3, 8), 1: (128, 2, 2, 4), 2: (128, 3, 3, 8), 4: (64, 2, 3, 8), 6: (32, 1, 3, 8)},
}
#: Bits of an element in its 16 bytes; those in containers of 16 bytes count as bytes, of which they fill fewer bits.
_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e2m1": 4}
_NARROW = {"e2m3": 6, "e3m2": 6, "e2m1_unpacksmem": 4}


def read_arrays(
    word: int, arch: str, *, dtype: str, major: str, shape: tuple[int, int], in_bits: bool = False
) -> NDArray[np.int64]:
    """The address, in bytes or in bits, of every element (i, k) of an operand."""
    span, bits, shift, rows = _SWIZZLES[arch][word >> (62 if arch == "sm90" else 61)]
    start, leading, stride = (16 * (word >> low & 0x3FFF) for low in (0, 16, 32))
    each = _BITS.get(dtype, 8)
    i: Any = np.arange(shape[0], dtype=np.int64)[:, None]
    k: Any = np.arange(shape[1], dtype=np.int64)[None, :]
    along, across = (k, i) if major == "K" else (i, k)
    b = along * each // 8
    if major == "K" and arch == "sm100" and word >> 52 & 1:
        piece = start // 16 % 8 + b // 16
        begin = np.where(piece < 8, start + b, leading + b % 16 + (piece - 8) * 16)
        address = begin + i // 8 * stride + i % 8 * 128
    elif major == "K":
        address = start + i // 8 * stride + i % 8 * span + b % 16 + b // 16 * (16 if bits else leading)
    elif bits:
        address = start + b // span * leading + b % span + k % rows * span + k // rows * stride
    else:
        address = start + b // 16 * stride + b % 16 + k % 8 * 16 + k // 8 * leading
    lines = (address >> 7) - (word >> 49 & 7)
    address = address ^ (lines & (1 << bits) - 1) << 7 - shift
    if not in_bits:
        return address + 0 * across
    inside = along % (128 // each) * _NARROW.get(dtype, each)
    return address // 16 * 128 + inside + 0 * across
