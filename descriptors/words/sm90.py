"""Data of architecture sm90 (``wgmma``): the shared-memory descriptor word.

Law: every field position is that of the PTX ISA (wgmma, matrix descriptor format), of CUTLASS
``include/cute/arch/mma_sm90_desc.hpp`` and of the CuTe DSL's ``WgmmaSmemDesc``. Measured on an H200: bits 14-15, 30-31,
46-48 and 52-61 belong to no field, and setting them changes nothing.

A code is that of the mode whose rows and swizzle the read model, which has positions and codes of its own, walks.

>>> from descriptors.proof.read_model import read_addresses
>>> from layoutalg import Swizzle
>>> for mode, _ in SWIZZLE_CODES:
...     word = SMEM_DESCRIPTOR.encode(swizzle=mode, stride_byte_offset=8 * mode.span_bytes)
...     rows, swizzle = [i * mode.span_bytes for i in range(32)], mode.swizzle or Swizzle(0, 4, 3)
...     read = read_addresses(word, "sm90", dtype="u8", major="K", shape=(32, 16))
...     assert read[:, 0].tolist() == [swizzle(row) for row in rows], mode
"""

from __future__ import annotations

from descriptors.operands.operand import SwizzleMode
from descriptors.words.bitfield import Field, Word

#: Codes of the swizzle field.
SWIZZLE_CODES = (
    (SwizzleMode.NONE, 0),
    (SwizzleMode.B128, 1),
    (SwizzleMode.B64, 2),
    (SwizzleMode.B32, 3),
)

#: The 64-bit shared-memory descriptor; addresses and offsets in bytes.
SMEM_DESCRIPTOR = Word(
    "sm90 shared-memory descriptor",
    64,
    (
        Field("start_address", low=0, bits=14, unit=16),
        Field("leading_byte_offset", low=16, bits=14, unit=16),
        Field("stride_byte_offset", low=32, bits=14, unit=16),
        Field("base_offset", low=49, bits=3),
        Field("swizzle", low=62, bits=2, codes=SWIZZLE_CODES, default=SwizzleMode.NONE),
    ),
)
