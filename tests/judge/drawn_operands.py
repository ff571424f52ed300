"""Operands that every kind of picture is tried on: both majors, all swizzles, types of 4 to 32 bits, stages, copies."""

from __future__ import annotations

from descriptors import Derivation, derive

OPERANDS: dict[str, Derivation] = {
    name: derive(tile, dtype, major, swizzle, verify=False, **more)  # type: ignore[arg-type]
    for name, (tile, dtype, major, swizzle, more) in {
        "K 128B": ((128, 128), "bf16", "K", "128B", {"mma": (64, 16)}),
        "MN 64B": ((128, 128), "bf16", "MN", "64B", {"mma": (64, 16)}),
        "MN none": ((128, 128), "bf16", "MN", "none", {"mma": (64, 16)}),
        "K none": ((128, 64), "e4m3", "K", "none", {"mma": (128, 32)}),
        "K 32B": ((256, 128), "e4m3", "K", "32B", {"mma": (128, 32)}),
        "four bits, stages": ((128, 256, 3), "e2m1", "K", "128B", {"mma": (128, 64)}),
        "sm90, stages": ((64, 256, 4), "bf16", "K", "64B", {"mma": (64, 16), "arch": "sm90"}),
        "32-byte pieces": ((64, 64), "tf32", "MN", "128B_BASE32B", {"mma": (64, 8), "legality": "off"}),
        "one subtile": ((64, 8), "tf32", "K", "32B", {"mma": (64, 8), "arch": "sm90"}),
        "a copy": ((128, 64), "u8", "K", "none", {"cp": "128x256b"}),
        "B, many rows": ((256, 64), "bf16", "MN", "128B", {"mma": (256, 16), "operand": "B"}),
        "many columns": ((64, 1024), "e4m3", "K", "128B", {"mma": (64, 32)}),
        "another order": ((128, 128, 2), "bf16", "MN", "128B", {"mma": (128, 16), "order": (1, 0, 2)}),
        "many atoms": ((256, 256), "bf16", "MN", "32B", {"mma": (64, 16)}),
    }.items()
}
