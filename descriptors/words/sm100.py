"""Data of architecture sm100 (``tcgen05``): the shared-memory descriptor word.

Law: every field position is that of PTX ISA 9.1, Table 40 (tcgen05 shared memory descriptor), of CUTLASS
``include/cute/arch/mma_sm100_desc.hpp`` and of the CuTe DSL's ``Tcgen05SmemDesc``. CUTLASS draws ``version`` two bits
wide where PTX and the DSL draw three; the value 1 reads the same in both.

A code is that of the mode whose rows and swizzle the read model, which has positions and codes of its own, walks.

>>> from descriptors.proof.read_model import read_addresses
>>> from layoutalg import Swizzle
>>> for mode, _ in SWIZZLE_CODES:
...     word = SMEM_DESCRIPTOR.encode(swizzle=mode, stride_byte_offset=8 * mode.span_bytes, version=1)
...     rows, swizzle = [i * mode.span_bytes for i in range(32)], mode.swizzle or Swizzle(0, 4, 3)
...     read = read_addresses(word, "sm100", dtype="u8", major="K", shape=(32, 16))
...     assert read[:, 0].tolist() == [swizzle(row) for row in rows], mode
"""

from __future__ import annotations

from descriptors.operands.operand import SwizzleMode
from descriptors.words.bitfield import Field, Word

#: Codes of the swizzle field; 3, 5 and 7 name nothing.
SWIZZLE_CODES = (
    (SwizzleMode.NONE, 0),
    (SwizzleMode.B128_BASE32B, 1),
    (SwizzleMode.B128, 2),
    (SwizzleMode.B64, 4),
    (SwizzleMode.B32, 6),
)

#: The 64-bit shared-memory descriptor; addresses and offsets in bytes. ``lbo_mode`` 1 makes the leading offset an
#: absolute address, which only the K = 96 instructions of sm_103a use.
SMEM_DESCRIPTOR = Word(
    "sm100 shared-memory descriptor",
    64,
    (
        Field("start_address", low=0, bits=14, unit=16),
        Field("leading_byte_offset", low=16, bits=14, unit=16),
        Field("stride_byte_offset", low=32, bits=14, unit=16),
        Field("version", low=46, bits=3, default=1),
        Field("base_offset", low=49, bits=3),
        Field("lbo_mode", low=52, bits=1),
        Field("swizzle", low=61, bits=3, codes=SWIZZLE_CODES, default=SwizzleMode.NONE),
    ),
)
