"""Write the CUDA functions for C through shared memory: the place of an element in a piece, and its rounding.

Invariant: the byte of an element in the text is that of the pieces' layout.

>>> from descriptors.gemm.epilogue import Pieces
>>> print(piece_at(Pieces("bf16", 64, 4, rows=32)))
// Of a piece, S<3,3,3> o 0 o (32,64):(64,1), in bytes.
__device__ constexpr uint32_t piece_at(uint32_t row, uint32_t column) {
  const uint32_t at = row * 128 + column * 2;
  return at ^ ((at & 0x380u) >> 3u);
}
<BLANKLINE>
"""

from __future__ import annotations

from descriptors.gemm.epilogue import BITS, Pieces


def piece_at(pieces: Pieces) -> str:
    """Return a CUDA function from row and column to the byte of a piece at which the element begins."""
    swizzle = pieces.swizzle.swizzle
    swizzled = "at" if swizzle is None else f"at ^ ((at & {(1 << swizzle.bits) - 1 << 7:#x}u) >> 3u)"
    return (
        f"// Of a piece, {pieces.layout}, in bytes.\n"
        "__device__ constexpr uint32_t piece_at(uint32_t row, uint32_t column) {\n"
        f"  const uint32_t at = row * {pieces.row_bytes} + column * {BITS[pieces.type] // 8};\n"
        f"  return {swizzled};\n}}\n"
    )


def conversion(type_: str, d: str) -> str:
    """Return the CUDA function that converts two floats to two adjacent elements of C; "" without a conversion."""
    if d != "f32" or type_ == "f32":
        return ""
    wide = BITS[type_] == 16
    rounding = "rn" if wide else "rn.satfinite"
    result, letter = ("uint32_t", "r") if wide else ("uint16_t", "h")
    return (
        f"// Two neighbours of a row as {type_}, rounded to nearest.\n"
        f"__device__ __forceinline__ {result} pair(float low, float high) {{\n  {result} both;\n"
        f'  asm("cvt.{rounding}.{type_}x2.f32 %0, %1, %2;" : "={letter}"(both) : "f"(high), "f"(low));\n'
        "  return both;\n}\n\n"
    )
