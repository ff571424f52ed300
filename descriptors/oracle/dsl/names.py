"""What the CuTe DSL calls our types, swizzles and targets."""

from __future__ import annotations

import re

# Names of the DSL's element types. In kinds f8f6f4 and mxf8f6f4 the narrow types lie in containers of 16 elements and
# 16 bytes, laid out as an 8-bit type is.
TYPES = {
    "f16": "Float16",
    "bf16": "BFloat16",
    "tf32": "TFloat32",
    "e4m3": "Float8E4M3FN",
    "e5m2": "Float8E5M2",
    "e2m3": "Uint8",
    "e3m2": "Uint8",
    "e2m1": "Float4E2M1FN",
    "e2m1_unpacksmem": "Uint8",
    "s8": "Int8",
    "u8": "Uint8",
}
# The dialect's sm90 operation knows no integers, though `wgmma` does; a float of the same width is laid out the same.
SM90_TYPES = {"s8": "Float8E4M3FN", "u8": "Float8E4M3FN"}
SWIZZLES = {"none": (0, 4, 3), "32B": (1, 4, 3), "64B": (2, 4, 3), "128B": (3, 4, 3), "128B_BASE32B": (2, 5, 2)}
TARGETS = {"sm90": "sm_90a", "sm100": "sm_100a", "sm103": "sm_103a"}

STORE = re.compile(r"st\.global\.[bu]64\s+\[%rd\d+(?:\+(\d+))?\],\s*(-?\w+);")
