r"""Write a plan of ``mma.sync`` as a CUDA program with a host program that checks the result.

The program is ``mma.cuh`` with its includes. The host program is the same as for sm90 kernels.

Invariant: copies, loads and the instruction in the program are those of the plan.

>>> from descriptors.gemm.mma_planner import mma_plan
>>> text = kernel(mma_plan("mma.m16n8k16", "bf16", tile=(64, 64, 32), verify=False))
>>> print(*[line for line in text.splitlines() if "a_load_" in line][:2], sep="\n")
__host__ __device__ constexpr int a_load_mn(int thread) { return thread % 16 + thread / 32 % 2 * 16; }
__host__ __device__ constexpr int a_load_k(int thread) { return thread / 16 % 2 * 8; }
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import lcm

from descriptors.gemm.mma_operand import MmaOperand
from descriptors.gemm.mma_plan import MmaPlan
from descriptors.gemm.mma_request import K_BYTES, MmaLoop
from descriptors.gemm.mma_scales import MmaScales, scale_rows
from descriptors.gemm.program_support import FACTORS
from descriptors.gemm.programs.c_expressions import CPP_TYPES, coordinate, tile_bytes
from descriptors.gemm.programs.cuda_files import assemble
from descriptors.gemm.programs.plan_constants import (
    boolean,
    box_constants,
    map_constants,
    type_headers,
)
from descriptors.smem.emitters.recipe import check_identifier
from descriptors.smem.operands.operand import ElementType, Major
from descriptors.smem.tma.tma_plan import TmaPlan
from descriptors.smem.words.tensor_map import PADDED_INNER
from descriptors.targets import WARP_ARCHITECTURES
from descriptors.text import counted, extents_text
from layoutalg import AnyLayout, E, Layout, composition, make_identity_layout

#: Bits of the mantissa, and the bias of the exponent, of the types of kinds f8f6f4 and mx...
_FORMATS = {
    "e4m3": (3, 7), "e5m2": (2, 15), "e2m3": (3, 1), "e3m2": (2, 3), "e2m1": (1, 1), "e2m1_unpacksmem": (1, 1),
}  # fmt: skip


def kernel(plan: MmaPlan, name: str = "gemm") -> str:
    """Return the program: one file of CUDA C++ (C++17), with ``main``.

    Args:
        plan: the plan.
        name: name of the kernel and the program.

    Raises:
        DescriptorError: if the name is not an identifier.
    """
    check_identifier(name)
    loop = plan.asked
    pieces = {
        "plan": "\n\n".join(["\n".join(_constants(plan)), *_loads(plan), _multiply(plan)]),
        "plan_headers": type_headers(loop.a.name, loop.b.name, loop.c, loop.d),
    }
    features = {
        "BARRIERS_USED": plan.by_engine,
        "D_F16": loop.d == "f16",
        "FACTOR_MANTISSA": plan.scales is not None and plan.scales.dtype == "ue4m3",
        "NARROW": bool(loop.kind),
        "SCALED": plan.scales is not None,
    }
    return _head(plan, name) + assemble("mma", pieces, {key: 1 for key, value in features.items() if value}, name)


def _multiply(plan: MmaPlan) -> str:
    """Return the function around the plan's instruction, with scale factors after C if the plan has any."""
    count = 2 if plan.asked.d == "f16" else 4
    kind = {"f32": "f", "s32": "r", "f16": "r"}[plan.asked.d]
    vectors = [(0, count), (count, 4), (count + 4, 2), (0, count)]
    operands = ", ".join(
        f"{{{', '.join(f'%{i}' for i in range(first_register, first_register + size))}}}"
        for first_register, size in vectors
    )
    parameters = inputs = ""
    if plan.scales is not None:
        first, (a, b) = count + 6, plan.scales.threads
        operands += f", %{first}, {{%{first + 2}, {a}}}, %{first + 1}, {{%{first + 2}, {b}}}"
        parameters = ",\n                                         uint32_t scale_a, uint32_t scale_b, uint16_t byte"
        inputs = ', "r"(scale_a), "r"(scale_b), "h"(byte)'
    return f"""\
__device__ __forceinline__ void multiply(Register (&d)[REGISTERS], const uint32_t (&a)[4], const uint32_t* b\
{parameters}) {{
  asm volatile(
      "{plan.asked.opcode} "
      "{operands};"
      : {", ".join(f'"+{kind}"(d[{i}])' for i in range(count))}
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]){inputs});
}}"""


def _head(plan: MmaPlan, name: str) -> str:
    loop, target = plan.asked, WARP_ARCHITECTURES[plan.asked.arch].target.removeprefix("sm_")
    code = f"sm_{target}" if plan.by_engine else f"[sm_{target},compute_{target}]"
    scales = "\n// The factors of A and B lie in memory as M and N rows of K / VECTOR bytes." * (
        plan.scales is not None
    )
    return f"""\
// mma.sync {loop.name}, {loop.a.name} by {loop.b.name} into {loop.d} ({loop.arch}): a tile of \
{extents_text(loop.tile)}, {counted(plan.stages, "stage")}.
// Written by layoutalg from a plan whose product it proves.
// Build:  nvcc -std=c++17 -O3 -gencode arch=compute_{target},code={code} -o {name} {name}.cu
// Run:    ./{name} [M N K] [--time]
//
// C = A B, of M x N, in M rows of N.
// {_memory(plan.a)} {_memory(plan.b)}{scales}
// The exit status is 0 if every element of C is the one that a plain product has, 1 if not, 2 if CUDA fails or an
// argument is wrong, 3 where there is no such GPU. With LAYOUTALG_NO_MAIN defined this file is a header: launch()
// below.

"""


def _memory(side: MmaOperand) -> str:
    mn = {"A": "M", "B": "N"}[side.matrix]
    rows = f"{mn} rows of K" if side.major is Major.K else f"K rows of {mn}"
    return f"{side.matrix} lies in memory as {rows}."


def _constants(plan: MmaPlan) -> Iterator[str]:
    loop, (m, n, k) = plan.asked, plan.asked.blocks
    yield f"constexpr int TILE_M = {loop.tile[0]}, TILE_N = {loop.tile[1]}, TILE_K = {loop.tile[2]};  // of a stage"
    pairs = ", K in bytes of two elements" * (plan.a.packed > 1)
    registers = f"REGISTERS = {2 if loop.d == 'f16' else 4}"
    yield f"constexpr int MMA_K = {K_BYTES // plan.a.bytes}, {registers};  // of an instruction{pairs}"
    yield f"constexpr int THREADS = {loop.threads};  // {loop.warps[0]} warps along M, {loop.warps[1]} along N"
    yield f"constexpr int BLOCKS_M = {m}, BLOCKS_N = {n}, BLOCKS_K = {k};  // of a warp"
    if plan.by_engine:
        yield f"constexpr int STAGES = {plan.stages}, STAGE_BYTES = {plan.transaction_bytes};  // of copies"
        yield f"constexpr int BARRIERS = {plan.barriers}, ALIGNMENT = 1024;"
    else:
        yield f"constexpr int STAGES = {plan.stages}, PENDING = {plan.pending};  // groups of copies under way"
    yield f"constexpr int SHARED_BYTES = {plan.budget.used};"
    for name, element in (("A", loop.a), ("B", loop.b)):
        yield _element_struct(name, element) if loop.kind else f"using Type{name} = {CPP_TYPES[element.name]};"
    yield f"using TypeC = {CPP_TYPES[loop.c]};"
    yield f"using Register = {'float' if loop.d == 'f32' else 'int32_t' if loop.d == 's32' else 'uint32_t'};"
    for side in (plan.a, plan.b):
        yield ""
        yield from _operand(side)
    yield ""
    yield f"// An accumulator's place: {plan.tiled.tv_layout('C')} of (thread, value) is m + {16 * loop.warps[0]} n."
    parts = plan.tiled.thrfrg_C(make_identity_layout(loop.tile[:2]))
    yield from _functions("d", {"thread": parts[0], "value": parts[1][0]}, ("row", "column"))
    low, high = (0, 3) if "u8" in (loop.a.name, loop.b.name) else (-1, 1) if loop.d == "f16" else (-2, 2)
    if plan.scales is not None:
        yield from _scale_constants(loop, plan.scales)
    digits = WARP_ARCHITECTURES[loop.arch].target.removeprefix("sm_").rstrip("a")
    gpu = f"a GPU of compute capability {digits[:-1]}.{digits[-1]}{'' if plan.by_engine else ' or later'}"
    yield "\n// The product is checked with integers between these, on such a GPU."
    yield f"constexpr int CAPABILITY = {digits}, K_PER_A = 1;"
    yield f"constexpr bool LATER_TOO = {boolean(not plan.by_engine)};"
    yield f'constexpr const char* GPU = "{gpu}";'
    if not loop.kind:
        yield f"constexpr int LOWEST = {low}, HIGHEST = {high};"
        yield f"constexpr bool INTEGERS = {boolean(loop.d == 's32')};"
    yield f'constexpr const char* OPERATIONS = "{"OP" if loop.d == "s32" else "FLOP"}";'


def _element_struct(name: str, element: ElementType) -> str:
    """Return the C++ struct for a narrow element type: a byte, with the bits of element and mantissa, and the bias."""
    mantissa, bias = _FORMATS[element.name]
    return (
        f"struct Type{name} {{\n  uint8_t byte;\n"
        f"  static constexpr int BITS = {element.bits}, MANTISSA = {mantissa}, BIAS = {bias};  // {element.name}\n}};"
    )


def _scale_constants(loop: MmaLoop, scales: MmaScales) -> Iterator[str]:
    """Yield the constants of the scale factors."""
    yield f"\n// {scales.dtype} factors, each of {scales.vector} elements along K: registers of a row, and of a K block"
    yield f"constexpr int VECTOR = {scales.vector}, SCALE_WORDS = {scales.words}, SCALES = {scales.each};"
    for index, name in enumerate(("sfa_row", "sfb_row")):
        text = coordinate({"thread": composition(Layout(256, E(0)), scale_rows(loop, scales, index))})[0]
        yield f"__host__ __device__ constexpr int {name}(int thread) {{ return {text}; }}"
    first, second = FACTORS[scales.dtype]
    yield f"constexpr int FACTOR_1 = {first}, FACTOR_STEP = {second - first};  // the code of 1, and from there to 2"


def _operand(side: MmaOperand) -> Iterator[str]:
    """Yield the constants and functions of an operand: its layout, its copies and the addresses for its loads."""
    name, low = side.matrix, side.matrix.lower()
    swizzle = f"swizzle {side.swizzle} of bytes" if side.swizzle.bits else "no swizzle"
    yield f"// {name}: {side.element.name}, {side.major}-major, {swizzle}, by {side.move.split('.')[0]}"
    yield f"constexpr int {name}_BASE = {side.base}, {name}_STAGE_BYTES = {side.stage_bytes};"
    padded = side.element.storage_bits == 8 and side.element.bits < 8
    row = PADDED_INNER if padded else lcm(128, side.element.bits) // side.element.bits
    yield f"constexpr int {name}_ROW = {row};  // of so many elements a row in memory has a multiple"
    if isinstance(side.fill, TmaPlan):
        yield f"constexpr int {name}_PACKED = {side.packed};"
        yield from map_constants(name, side.fill, side.major)
    else:
        yield f"constexpr bool {name}_MN_MAJOR = {boolean(side.major is Major.MN)};"
    affine, swizzled = tile_bytes(side.layout, side.bytes)
    yield f"__host__ __device__ constexpr uint32_t {low}_byte(uint32_t row, uint32_t column) {{"
    if "column" not in affine:
        yield "  (void)column;"
    yield f"  const uint32_t at = {affine};\n  return {swizzled};\n}}"
    yield from _copy_constants(side)
    yield f"constexpr int {name}_PIECE = {side.load.tiler[0]};  // from a warp's block to its next"
    yield from _functions(f"{low}_load", _pointers(side), ("mn", "k"))


def _copy_constants(side: MmaOperand) -> Iterator[str]:
    """Yield the constants and functions of an operand's copies."""
    name, low = side.matrix, side.matrix.lower()
    if isinstance(side.fill, TmaPlan):
        yield from box_constants(name, side.fill.boxes)
        return
    count, along, depth = side.fill_elements.shape
    mn, k = side.fill.tiler
    yield f"constexpr int {name}_COPY_THREADS = {count};  // each copies 16 bytes, so many times, so far apart"
    apart = f"{name}_APART_MN = {mn}, {name}_APART_K = {k}"
    yield f"constexpr int {name}_COPIES_MN = {along}, {name}_COPIES_K = {depth}, {apart};"
    copies = side.fill.thrfrg_D(make_identity_layout(side.tile))
    yield from _functions(f"{low}_copy", {"thread": copies[0]}, ("mn", "k"))


def _functions(low: str, modes: dict[str, AnyLayout], names: tuple[str, str]) -> Iterator[str]:
    """Yield CUDA functions for row and column, from partitions of an identity layout and their variables."""
    for name, text in zip(names, coordinate(modes), strict=True):
        parameters = ", ".join(f"int {variable}" if variable in text else "int" for variable in modes)
        head = f"__host__ __device__ constexpr int {low}_{name}({parameters})"
        line = f"{head} {{ return {text}; }}"
        yield line if len(line) <= 120 else f"{head} {{\n  return {text};\n}}"


def _pointers(side: MmaOperand) -> dict[str, AnyLayout]:
    """Return partitions that give the coordinates of the addresses that a thread passes to its loads."""
    identity = make_identity_layout(side.tile)
    if side.by_element:
        partition = side.load.thrfrg_D(identity)
        return {"thread": partition[0], "value": partition[1]}
    return {"thread": side.load.thrfrg_S(identity)[0]}


def _loads(plan: MmaPlan) -> Iterator[str]:
    """Yield the functions with the load instructions, each once, and the functions that load A and B."""
    yield from dict.fromkeys(_instruction(side) for side in (plan.a, plan.b))
    for side in (plan.a, plan.b):
        parameters = "uint32_t (&to)[4], uint32_t from, int thread, int mn, int k"
        body = _by_element(side) if side.by_element else _by_matrix(side)
        yield f"__device__ __forceinline__ void load_{side.matrix.lower()}({parameters}) {{\n{body}\n}}"


def _instruction(side: MmaOperand) -> str:
    if side.by_element:
        bits, kind = side.element.storage_bits, {8: "u8", 32: "b32"}[side.element.storage_bits]
        return f"""\
__device__ __forceinline__ uint32_t load_{bits}(uint32_t from) {{
  uint32_t to;
  asm volatile("ld.shared.{kind} %0, [%1];" : "=r"(to) : "r"(from) : "memory");
  return to;
}}"""
    return f"""\
__device__ __forceinline__ void load_{_name(side)}(uint32_t (&to)[4], uint32_t from) {{
  asm volatile("{side.move} {{%0, %1, %2, %3}}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}}"""


def _by_matrix(side: MmaOperand) -> str:
    low = side.matrix.lower()
    place = f"from + {low}_byte({low}_load_mn(thread) + mn, {low}_load_k(thread) + k)"
    load = f"  load_{_name(side)}(to, {place});"
    return load if not side.shift else f"{load}\n  for (int i = 0; i < 4; ++i) to[i] <<= {side.shift};"


def _name(side: MmaOperand) -> str:
    """Return the suffix of the function that loads matrices: what the load does to them."""
    padded = re.search(r"b([46])x16", side.move)
    return f"widened_{padded[1]}" if padded else "turned" if side.turned else "matrices"


def _by_element(side: MmaOperand) -> str:
    low, bits = side.matrix.lower(), side.element.storage_bits
    each = 32 // bits
    place = f"from + {low}_byte({low}_load_mn(thread, value) + mn, {low}_load_k(thread, value) + k)"
    return f"""\
#pragma unroll
  for (int value = 0; value < {4 * each}; ++value) {{
    const uint32_t one = load_{bits}({place});
    to[value / {each}] = value % {each} ? to[value / {each}] | one << {bits} * (value % {each}) : one;
  }}"""
