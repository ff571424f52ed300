"""A plan of ``mma.sync`` as a CUDA program: copies by all threads, fragments by warps, the result checked on the spot.

The text around the plan's numbers is ``mma.cu.in``; the host that checks the product is that of the kernels of sm90.

Law: who copies what, who loads what, and the line of the instruction in the program are the plan's.

>>> from descriptors.gemm.mma_planner import mma_plan
>>> text = kernel(mma_plan("mma.m16n8k16", "bf16", tile=(64, 64, 32), verify=False))
>>> print(*[line for line in text.splitlines() if "a_load_" in line][:2], sep="\\n")
__host__ __device__ constexpr int a_load_mn(int thread) { return thread % 16 + thread / 32 % 2 * 16; }
__host__ __device__ constexpr int a_load_k(int thread) { return thread / 16 % 2 * 8; }
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from descriptors.errors import DescriptorError
from descriptors.gemm.mma_operand import MmaOperand
from descriptors.gemm.mma_plan import MmaPlan
from descriptors.gemm.mma_request import K_BYTES
from descriptors.gemm.programs import mma_copies, mma_scaled
from descriptors.gemm.programs.c_expressions import CPP_TYPES, tile_bytes
from descriptors.gemm.programs.mma_copies import functions
from descriptors.gemm.programs.sm90_kernel import template
from descriptors.smem.operands.operand import Major
from descriptors.smem.words.tensor_map import PADDED_INNER
from descriptors.targets import WARP_ARCHITECTURES
from descriptors.text import counted, extents_text
from layoutalg import AnyLayout, make_identity_layout


def kernel(plan: MmaPlan, name: str = "gemm") -> str:
    """The program: one file of CUDA C++ (C++17), with ``main``.

    Args:
        plan: the plan.
        name: of the kernel and the program.

    Raises:
        DescriptorError: if the name is no identifier.
    """
    if re.fullmatch(r"[A-Za-z_]\w{0,60}", name, re.ASCII) is None:
        raise DescriptorError(f"emit: the name of a kernel must be an identifier, found {name!r}")
    loop, target = plan.asked, WARP_ARCHITECTURES[plan.asked.arch].target.removeprefix("sm_")
    count = 2 if loop.d == "f16" else 4
    kind = {"f32": "f", "s32": "r", "f16": "r"}[loop.d]
    numbers = [", ".join(f"%{i}" for i in range(first, first + size)) for first, size in _vectors(count)]
    digits = target.rstrip("a")
    major, minor = digits[:-1], digits[-1]
    headers = {_HEADERS[one] for one in _types(plan) if one in _HEADERS}
    parts = mma_copies.texts(plan, name)
    return template("mma", *(("narrow_check", "main") if loop.kind else ())).substitute(
        _host(),
        **mma_scaled.texts(plan),
        **parts,
        head=_head(plan),
        name=name,
        compute=f"compute_{target}",
        code=f"sm_{target}" if plan.by_engine else f"[sm_{target},compute_{target}]",
        gpu=f"a GPU of compute capability {major}.{minor}{'' if plan.by_engine else ' or later'}",
        other_gpu=f"10 * properties.major + properties.minor {'!=' if plan.by_engine else '<'} {major}{minor}",
        headers="".join(f"#include <{one}>\n" for one in sorted(headers)),
        constants="\n".join(_constants(plan)),
        load="\n\n".join(_loads(plan)),
        opcode=loop.opcode,
        operands=", ".join(f"{{{one}}}" for one in (*numbers, numbers[0])) + mma_scaled.scale_operands(plan, count + 6),
        results=", ".join(f'"+{kind}"(d[{i}])' for i in range(count)),
        element=_ELEMENTS[loop.d],
        a_memory=_memory(plan.a),
        b_memory=_memory(plan.b),
        strides=" && ".join(_strides(plan)),
    )


def _host() -> dict[str, str]:
    """What other kernels say more to the host, and these do not."""
    nothing = "metadata_drawn half wanted main_terms metadata_setup metadata_name k_parts"
    return dict.fromkeys(nothing.split(), "") | {
        "row_of_a": "k", "position": "i", "main_c": "c", "c_rows": " or B",
    }  # fmt: skip


def _vectors(count: int) -> Iterator[tuple[int, int]]:
    """The first register and the number of registers of D, A and B."""
    yield 0, count
    yield count, 4
    yield count + 4, 2


def _head(plan: MmaPlan) -> str:
    loop = plan.asked
    return (
        f"// mma.sync {loop.name}, {loop.a.name} by {loop.b.name} into {loop.d} ({loop.arch}): a tile of "
        f"{extents_text(loop.tile)}, {counted(plan.stages, 'stage')}.\n"
        "// Written by layoutalg from a plan whose product it proves."
    )


def _row(side: MmaOperand) -> str:
    """How long a row in memory is."""
    return "K" if side.major is Major.K else {"A": "M", "B": "N"}[side.matrix]


def _memory(side: MmaOperand) -> str:
    mn = {"A": "M", "B": "N"}[side.matrix]
    rows = f"{mn} rows of K" if side.major is Major.K else f"K rows of {mn}"
    return f"{side.matrix} lies in memory as {rows}."


def _strides(plan: MmaPlan) -> Iterator[str]:
    """What M, N and K must satisfy, so that every row begins where copies may."""
    for side in (plan.a, plan.b):
        if side.element.storage_bits == 8 and side.element.bits < 8:
            yield f"K % {PADDED_INNER} == 0"
        elif plan.asked.kind:
            yield f"{_row(side)} * Type{side.matrix}::BITS / 8 % 16 == 0"
        else:
            yield f"({_row(side)} * sizeof(Type{side.matrix})) % 16 == 0"
    if plan.scales is not None:
        yield "K % (4 * VECTOR) == 0"


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
        yield (
            mma_scaled.element_struct(name, element) if loop.kind else f"using Type{name} = {CPP_TYPES[element.name]};"
        )
    yield f"using TypeC = {CPP_TYPES[loop.c]};"
    yield f"using Register = {'float' if loop.d == 'f32' else 'int32_t' if loop.d == 's32' else 'uint32_t'};"
    for side in (plan.a, plan.b):
        yield ""
        yield from _operand(side)
    yield ""
    yield f"// An accumulator's place: {plan.tiled.tv_layout('C')} of (thread, value) is m + {16 * loop.warps[0]} n."
    parts = plan.tiled.thrfrg_C(make_identity_layout(loop.tile[:2]))
    yield from functions("d", {"thread": parts[0], "value": parts[1][0]}, ("row", "column"))
    low, high = (0, 3) if "u8" in (loop.a.name, loop.b.name) else (-1, 1) if loop.d == "f16" else (-2, 2)
    yield from mma_scaled.constants(plan)
    if not loop.kind:
        yield "\n// The product is checked with integers between these."
        yield f"constexpr int LOWEST = {low}, HIGHEST = {high};"
        yield f"constexpr bool INTEGERS = {'true' if loop.d == 's32' else 'false'};"
    yield f'constexpr const char* OPERATIONS = "{"OP" if loop.d == "s32" else "FLOP"}";'


def _operand(side: MmaOperand) -> Iterator[str]:
    """Where an operand lies, who copies which part of it, and who points at which part."""
    name, low = side.matrix, side.matrix.lower()
    swizzle = f"swizzle {side.swizzle} of bytes" if side.swizzle.bits else "no swizzle"
    yield f"// {name}: {side.element.name}, {side.major}-major, {swizzle}, by {side.move.split('.')[0]}"
    yield f"constexpr int {name}_BASE = {side.base}, {name}_STAGE_BYTES = {side.stage_bytes};"
    yield f"constexpr bool {name}_MN_MAJOR = {'true' if side.major is Major.MN else 'false'};"
    at, turned = tile_bytes(side.layout, side.bytes)
    yield f"__host__ __device__ constexpr uint32_t {low}_byte(uint32_t row, uint32_t column) {{"
    if "column" not in at:
        yield "  (void)column;"
    yield f"  const uint32_t at = {at};\n  return {turned};\n}}"
    yield from mma_copies.constants(side)
    yield f"constexpr int {name}_PIECE = {side.load.tiler[0]};  // from a warp's block to its next"
    yield from functions(f"{low}_load", _pointers(side), ("mn", "k"))


def _pointers(side: MmaOperand) -> dict[str, AnyLayout]:
    """What a thread points at: a row of a matrix, or each of its elements by itself."""
    identity = make_identity_layout(side.tile)
    if side.by_element:
        held = side.load.thrfrg_D(identity)
        return {"thread": held[0], "value": held[1]}
    return {"thread": side.load.thrfrg_S(identity)[0]}


def _loads(plan: MmaPlan) -> Iterator[str]:
    """The instructions that bring fragments, each once, then what loads A and what loads B."""
    yield from dict.fromkeys(_instruction(side) for side in (plan.a, plan.b))
    for side in (plan.a, plan.b):
        given = "uint32_t (&to)[4], uint32_t from, int thread, int mn, int k"
        body = _by_element(side) if side.by_element else _by_matrix(side)
        yield f"__device__ __forceinline__ void load_{side.matrix.lower()}({given}) {{\n{body}\n}}"


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
    """What a load of matrices does to them."""
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


def _types(plan: MmaPlan) -> tuple[str, ...]:
    """The names of all types of the program."""
    loop = plan.asked
    return loop.a.name, loop.b.name, loop.c, loop.d


#: What declares a type.
_HEADERS = {"f16": "cuda_fp16.h", "bf16": "cuda_bf16.h", "e4m3": "cuda_fp8.h", "e5m2": "cuda_fp8.h"}
#: An accumulator of a thread, by the type that the instruction adds up in.
_ELEMENTS = {
    "f32": """\
__device__ __forceinline__ float element(const Register (&d)[REGISTERS], int value) { return d[value]; }""",
    "s32": """\
__device__ __forceinline__ int32_t element(const Register (&d)[REGISTERS], int value) { return d[value]; }""",
    "f16": """\
__device__ __forceinline__ __half element(const Register (&d)[REGISTERS], int value) {
  return __ushort_as_half(static_cast<unsigned short>(d[value / 2] >> 16 * (value % 2)));
}""",
}
