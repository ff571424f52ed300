"""What programs for sm90 and for sm100 both say of C through shared memory: pieces, boxes, parts along K.

Law: the byte of an element in the text is that of the pieces' layout.

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
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs import terms


def piece_at(one: Pieces) -> str:
    """A function: the byte of a piece at which an element begins."""
    swizzle = one.swizzle.swizzle
    turned = "at" if swizzle is None else f"at ^ ((at & {(1 << swizzle.bits) - 1 << 7:#x}u) >> 3u)"
    return (
        f"// Of a piece, {one.layout}, in bytes.\n"
        "__device__ constexpr uint32_t piece_at(uint32_t row, uint32_t column) {\n"
        f"  const uint32_t at = row * {one.row_bytes} + column * {BITS[one.type] // 8};\n"
        f"  return {turned};\n}}\n"
    )


def conversion(type_: str, d: str) -> str:
    """The function that makes two floats two neighbours in C; "" where nothing is converted."""
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


def store_box(parts: bool) -> str:
    """The function that stores a piece.

    Args:
        parts: whether C is a matrix for each part along K.
    """
    more, rank, place, source = (", int part", 3, "{%1, %2, %3}", "%4") if parts else ("", 2, "{%1, %2}", "%3")
    given = '"r"(column), "r"(row), "r"(part)' if parts else '"r"(column), "r"(row)'
    return f"""\
// A piece to C: what of it is outside is not stored.
__device__ __forceinline__ void store_box(const CUtensorMap* map, uint32_t from, int column, int row{more}) {{
  asm volatile("cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group [%0, {place}], [{source}];" ::"l"(map),
               {given}, "r"(from)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}}
"""


def add_parts(plan: Plan) -> str:
    """The kernel that adds the parts along K.

    Args:
        plan: a plan with several.
    """
    there = terms.texts(plan)
    return _ADD_PARTS.replace("TERMS", there["add_terms"]).replace("TOTAL", there["total"])


_ADD_PARTS = """\
struct alignas(16) FourParts {
  Register of[4];
};
struct alignas(4 * sizeof(TypeC)) FourResults {
  TypeC of[4];
};

// Parts along K, added in their order. Rows are whole 16 bytes of parts, so that elements come by fours.
__global__ void add_parts(const Register* parts, TypeC* c, size_t countTERMS) {
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < count / 4;
       at += static_cast<size_t>(gridDim.x) * blockDim.x) {
    FourParts part[SPLITS];
#pragma unroll
    for (int i = 0; i < SPLITS; ++i) part[i] = reinterpret_cast<const FourParts*>(parts + i * count)[at];
    FourResults sum;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      Register total = part[0].of[j];
#pragma unroll
      for (int i = 1; i < SPLITS; ++i) total += part[i].of[j];
      sum.of[j] = TypeC(TOTAL);
    }
    reinterpret_cast<FourResults*>(c)[at] = sum;
  }
}
"""
