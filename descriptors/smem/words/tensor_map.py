"""What a tensor map (TMA) calls element types and swizzles: data.

The names and codes are those of CUDA 13.0's ``cuda.h``. The swizzles are numbered a third way, unlike the
descriptors of either architecture.

Law: the copy model, which has codes of its own, lets every byte land where the swizzle of the code's mode says.

>>> from descriptors.smem.tma.copy_model import landing_bits
>>> for mode, (_, code) in SWIZZLES.items():
...     landed = landing_bits((1024,), [0], bits=8, swizzle=code)[0] // 8
...     assert landed.tolist() == [mode.swizzle(i) if mode.swizzle else i for i in range(1024)], mode
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptors.smem.operands.operand import SwizzleMode

#: Name and code of each swizzle. Source: cuda.h, CUtensorMapSwizzle; the last exists since CUDA 12.8.
SWIZZLES: Mapping[SwizzleMode, tuple[str, int]] = {
    SwizzleMode.NONE: ("CU_TENSOR_MAP_SWIZZLE_NONE", 0),
    SwizzleMode.B32: ("CU_TENSOR_MAP_SWIZZLE_32B", 1),
    SwizzleMode.B64: ("CU_TENSOR_MAP_SWIZZLE_64B", 2),
    SwizzleMode.B128: ("CU_TENSOR_MAP_SWIZZLE_128B", 3),
    SwizzleMode.B128_BASE32B: ("CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B", 4),
}

INTERLEAVE = ("CU_TENSOR_MAP_INTERLEAVE_NONE", 0)

_BYTE = ("CU_TENSOR_MAP_DATA_TYPE_UINT8", 0)
_SIX_PADDED = ("CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B", 15)

#: Name and code of each element type. A copy moves bits and interprets none, so a byte is a byte; only TFLOAT32 rounds
#: what is no tf32 number to the nearest one, ties to even (measured on an H200). Source: cuda.h, CUtensorMapDataType;
#: CUTLASS include/cute/arch/copy_sm90_desc.hpp, to_CUtensorMapDataType.
DATA_TYPES: Mapping[str, tuple[str, int]] = {
    "f16": ("CU_TENSOR_MAP_DATA_TYPE_FLOAT16", 6),
    "bf16": ("CU_TENSOR_MAP_DATA_TYPE_BFLOAT16", 9),
    "tf32": ("CU_TENSOR_MAP_DATA_TYPE_TFLOAT32", 11),
    "e4m3": _BYTE,
    "e5m2": _BYTE,
    "s8": _BYTE,
    "u8": _BYTE,
    "e2m1": ("CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B", 13),
    "e2m1_unpacksmem": ("CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B", 14),
    "e2m3": _SIX_PADDED,
    "e3m2": _SIX_PADDED,
}

#: Codes of data types and swizzles that no tensor map of sm90 has (MEASURED; PTX ISA 9.1 names them for sm_100 on).
SM100_DATA_TYPES = frozenset({13, 14, 15})
SM100_SWIZZLES = frozenset({4})
