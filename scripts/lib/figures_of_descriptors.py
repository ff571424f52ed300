"""The figures of descriptors: those of two published articles, drawn again from the engine, and the project's own.

Each is named by what it shows; docs/pictures.md lists the articles' figures beside their sections.
"""

from __future__ import annotations

from collections.abc import Callable

from descriptors import (
    SwizzleMode,
    accumulator,
    derive,
    diff,
    picture,
    plan,
    readout,
    scale_factors,
    shift_convolution,
    tma_plan,
    tmem_copied,
    tmem_move,
    tmem_plan,
    verify,
)
from layoutalg import Picture, evaluate

#: The two worked examples of the article on descriptors, and the operand of the terminal figure.
K_MAJOR = derive((128, 128), "bf16", "K", "128B", (64, 16), verify=False)
MN_MAJOR = derive((128, 128), "bf16", "MN", "64B", (64, 16), verify=False)
NO_SWIZZLE = derive((128, 64), "e4m3", "K", "none", (128, 32), verify=False)
STAGED = derive((128, 256, 3), "e2m1", "K", "128B", (128, 64), verify=False)


def _wrong() -> Picture:
    """The word of an operand whose SBO is half of what it should be."""
    word = K_MAJOR.word(0, 0) ^ (64 ^ 32) << 32
    return picture(diff(word, K_MAJOR.smem_tile, dtype="bf16", major="K", shape=(64, 16)))


FIGURES: dict[str, Callable[[], Picture]] = {
    "descriptor_word": lambda: picture(K_MAJOR, "word"),
    "levels": lambda: picture(K_MAJOR),
    "kmajor_tile": lambda: picture(K_MAJOR, "atoms"),
    "kmajor_subtiles": lambda: picture(K_MAJOR, "tile", colour="subtile"),
    "kmajor_chunks": lambda: picture(K_MAJOR, "chunks"),
    "kmajor_advance": lambda: picture(K_MAJOR, "advance"),
    "mnmajor_tile": lambda: picture(MN_MAJOR, "atoms"),
    "mnmajor_subtiles": lambda: picture(MN_MAJOR, "tile", colour="subtile"),
    "mnmajor_chunks": lambda: picture(MN_MAJOR, "chunks"),
    "mnmajor_advance": lambda: picture(MN_MAJOR, "advance"),
    "mnmajor_levels": lambda: picture(MN_MAJOR),
    "no_swizzle_levels": lambda: picture(NO_SWIZZLE),
    "staged_advance": lambda: picture(STAGED, "advance", stage=1),
    "bank_view": lambda: picture(K_MAJOR, "banks"),
    "bank_view_64B": lambda: picture(MN_MAJOR, "banks"),
    "bank_view_threads": lambda: picture(K_MAJOR, "banks", access=evaluate("(32,8):(1,128)")),
    "tile_banks": lambda: picture(K_MAJOR, "tile", colour="bank"),
    "wrong_word": _wrong,
    "boxes_kmajor": lambda: picture(tma_plan(K_MAJOR, rank=2)),
    "boxes_mnmajor": lambda: picture(tma_plan(MN_MAJOR, rank=2)),
    "proof": lambda: picture(verify(K_MAJOR)),
    "main_loop": lambda: picture(plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4, b_major="MN", verify=False)),
    "main_loop_blocks": lambda: picture(
        plan("m128n64k64", "e2m1", tile=(256, 192, 256), kind="mxf4nvf4", scale_vector=16, verify=False)
    ),
    "tmem_plan": lambda: picture(tmem_plan(128, 128, 256, "e2m1", scale_dtype="ue4m3", accumulators=2)),
    "tmem_accumulator": lambda: picture(accumulator(64, 128, tiles=(2, 1))),
    "tmem_ld": lambda: picture(tmem_move("16x256b.x2")),
    "tmem_readout": lambda: picture(readout(accumulator(128, 64), "16x256b.x4")),
    "tmem_cp": lambda: picture(tmem_copied((64, 64), "bf16", "128B", "64x128b.warpx2::01_23")),
    "tmem_scale_factors": lambda: picture(scale_factors(128, 256, 32, step=64)),
    "shifted_taps": lambda: picture(shift_convolution(8, 9, 9, 16, 16, (3, 3), (1, 1))),
    "swizzle_A_none": lambda: picture(SwizzleMode.NONE),
    "swizzle_B_32B": lambda: picture(SwizzleMode.B32),
    "swizzle_C_64B": lambda: picture(SwizzleMode.B64),
    "swizzle_D_128B": lambda: picture(SwizzleMode.B128),
    "swizzle_E_128B_BASE32B": lambda: picture(SwizzleMode.B128_BASE32B),
}
