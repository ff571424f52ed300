"""The parts of a program of ``mma.sync`` that a kind of narrow types, or with scale factors, has more than others.

Elements of 4 and 6 bits lie packed in global memory, and are checked from there. Scale factors are loaded as they lie,
four of a row at a time, by the threads whose registers the instruction reads.

Law: without scale factors nothing of them is in the text.

>>> from descriptors.gemm.mma_planner import mma_plan
>>> plans = [mma_plan("mma.m16n8k32", "e4m3", tile=(64, 64, 128), arch="sm120", scale_vector=v, verify=False)
...          for v in (None, 32)]
>>> ["scale" in "".join(texts(one).values()) for one in plans]
[False, True]
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.gemm.mma_plan import MmaPlan
from descriptors.gemm.mma_scales import scale_rows
from descriptors.gemm.programs.c_expressions import coordinate
from descriptors.smem.operands.operand import ElementType
from layoutalg import E, Layout, composition

#: Bits of the mantissa, and the bias of the exponent, of the types of kinds f8f6f4 and mx...
FORMATS = {
    "e4m3": (3, 7), "e5m2": (2, 15), "e2m3": (3, 1), "e3m2": (2, 3), "e2m1": (1, 1), "e2m1_unpacksmem": (1, 1),
}  # fmt: skip
#: A factor of 1, and how far apart those of 1 and 2 are, in its bits; what it is as a number.
_FACTORS = {
    "ue8m0": (127, 1, "exp2f(static_cast<float>(code) - 127)"),
    "ue4m3": (56, 8, "(code >> 3 ? ldexpf(1 + code % 8 / 8.0f, (code >> 3) - 7) : ldexpf(code % 8 / 8.0f, -6))"),
}


def element_struct(name: str, element: ElementType) -> str:
    """The type of an operand in C++, by its bits: bytes in which elements lie packed."""
    mantissa, bias = FORMATS[element.name]
    return (
        f"struct Type{name} {{\n  uint8_t byte;\n"
        f"  static constexpr int BITS = {element.bits}, MANTISSA = {mantissa}, BIAS = {bias};  // {element.name}\n}};"
    )


def constants(plan: MmaPlan) -> Iterator[str]:
    """What the plan says of scale factors."""
    scales = plan.scales
    if scales is None:
        return
    yield f"\n// {scales.dtype} factors, each of {scales.vector} elements along K: registers of a row, and of a K block"
    yield f"constexpr int VECTOR = {scales.vector}, SCALE_WORDS = {scales.words}, SCALES = {scales.each};"
    for index, name in enumerate(("sfa_row", "sfb_row")):
        rows = scale_rows(plan.asked, scales, index)
        text = coordinate({"thread": composition(Layout(256, E(0)), rows)})[0]
        yield f"__host__ __device__ constexpr int {name}(int thread) {{ return {text}; }}"


def texts(plan: MmaPlan) -> dict[str, str]:
    """What stands at each place of the template.

    Args:
        plan: the plan.
    """
    scales = plan.scales
    names = (
        "scale_helpers scale_loads scale_given scale_operands scale_registers scale_parameters scale_launch "
        "scale_memory scale_check compare_terms factors main_parts main_given"
    )
    nothing = dict.fromkeys(names.split(), "")
    if scales is None:
        return nothing
    one, apart, value = _FACTORS[scales.dtype]
    return nothing | {
        "scale_helpers": _HELPERS,
        "scale_loads": _LOADS,
        "scale_given": _GIVEN,
        "scale_operands": ", uint32_t scale_a, uint32_t scale_b, uint16_t byte",
        "scale_registers": ', "r"(scale_a), "r"(scale_b), "h"(byte)',
        "scale_parameters": ", const uint8_t* sfa, const uint8_t* sfb",
        "scale_launch": ", sfa, sfb",
        "scale_memory": "\n// The factors of A and B lie in memory as M and N rows of K / VECTOR bytes.",
        "scale_check": _CHECK.format(one=one, apart=apart, value=value),
        "compare_terms": ", const uint8_t* sfa, const uint8_t* sfb",
        "factors": _PRODUCT,
        "main_parts": _MAIN,
        "main_given": ", sfa, sfb",
    }


def scale_operands(plan: MmaPlan, first: int) -> str:
    """What the instruction has after C, from a register on: factors, their bytes and the threads that give them."""
    if plan.scales is None:
        return ""
    a, b = plan.scales.threads
    return f", %{first}, {{%{first + 2}, {a}}}, %{first + 1}, {{%{first + 2}, {b}}}"


_HELPERS = """\
// Four factors of a row, as they lie in memory; zeros beyond.
__device__ __forceinline__ uint32_t scale_word(const uint8_t* from, int row, int rows, int k, int depth) {
  const bool inside = row < rows && k < depth;
  return inside ? *reinterpret_cast<const uint32_t*>(from + static_cast<size_t>(row) * depth + k) : 0;
}

"""
_LOADS = """\
    uint32_t scale_a[SCALE_WORDS][BLOCKS_M], scale_b[SCALE_WORDS][BLOCKS_N];
#pragma unroll
    for (int word = 0; word < SCALE_WORDS; ++word) {
      const int first = step * (TILE_K / VECTOR) + 4 * word;
#pragma unroll
      for (int i = 0; i < BLOCKS_M; ++i)
        scale_a[word][i] = scale_word(sfa, m0 + i * A_PIECE + sfa_row(thread), m, first, k / VECTOR);
#pragma unroll
      for (int j = 0; j < BLOCKS_N; ++j)
        scale_b[word][j] =
            scale_word(sfb, n0 + j / 2 * B_PIECE + j % 2 * 8 + sfb_row(thread), n, first, k / VECTOR);
    }
"""
_GIVEN = ",\n                   scale_a[kb * SCALES / 4][i], scale_b[kb * SCALES / 4][j], kb * SCALES % 4"
_PRODUCT = """ *
             factor(sfa[(row * k + i) / VECTOR]) * factor(sfb[(column * k + i) / VECTOR])"""
_CHECK = """\
// Factors of 1/2, 1 and 2.
__global__ void fill_factors(uint8_t* to, int mn, int k, int seed) {{
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < static_cast<size_t>(mn) * k;
       at += static_cast<size_t>(gridDim.x) * blockDim.x)
    to[at] = {one} - {apart} + {apart} * (mixed(static_cast<int>(at / k), static_cast<int>(at % k), seed) % 3);
}}

__device__ float factor(uint8_t code) {{ return {value}; }}

"""
_MAIN = """\
  uint8_t *sfa, *sfb;
  check(cudaMalloc(&sfa, static_cast<size_t>(M) * K / VECTOR), "factors of A");
  check(cudaMalloc(&sfb, static_cast<size_t>(N) * K / VECTOR), "factors of B");
  fill_factors<<<1024, 256>>>(sfa, M, K / VECTOR, 3);
  fill_factors<<<1024, 256>>>(sfb, N, K / VECTOR, 4);
"""
