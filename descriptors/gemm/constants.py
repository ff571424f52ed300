"""What a plan says, as C++ constants: every number of the kernel that comes from the plan and not from its text.

Law: a step that is linear is said as a product, any other as a table, and both are the plan's.

>>> step_function("a_k_step", (0, 2, 4, 6))
'__host__ __device__ constexpr uint32_t a_k_step(int i) { return i * 2; }'
>>> print(step_function("a_k_step", (0, 2, 1024)))
__host__ __device__ constexpr uint32_t a_k_step(int i) {
  constexpr uint32_t all[] = {0, 2, 1024};
  return all[i];
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descriptors.errors import DescriptorError
from descriptors.gemm import cluster
from descriptors.gemm.parts.held import row_and_column
from descriptors.operands.operand import Major
from descriptors.plans.parts.accumulators import Registers
from descriptors.plans.parts.budget import BARRIER_BYTES
from descriptors.plans.parts.operands import StagedOperand
from descriptors.plans.plan import Plan
from descriptors.text import word_text

#: Element types in C++; those of A and B can be made of a float, and turned back into one.
CPP_TYPES = {
    "f16": "__half", "bf16": "__nv_bfloat16", "tf32": "float", "e4m3": "__nv_fp8_e4m3", "e5m2": "__nv_fp8_e5m2",
    "s8": "int8_t", "u8": "uint8_t", "f32": "float", "s32": "int32_t",
}  # fmt: skip

#: The start address in a word, bits 0-13.
_START = 0x3FFF
#: Rows of output tiles that are worked on together have about so many rows of C.
_GROUP_ROWS = 2048


def step_function(name: str, steps: Sequence[int], kind: str = "uint32_t") -> str:
    """A function that gives the i-th of some numbers.

    Args:
        name: of the function.
        steps: the numbers.
        kind: their C++ type.
    """
    head = f"__host__ __device__ constexpr {kind} {name}(int i)"
    unit = steps[1] if len(steps) > 1 else 0
    if list(steps) == [i * unit for i in range(len(steps))]:
        return f"{head} {{ return i * {unit}; }}"
    return f"{head} {{\n  constexpr {kind} all[] = {{{', '.join(map(str, steps))}}};\n  return all[i];\n}}"


def constants(made: Plan, held: Registers) -> str:
    """The constants of a plan for sm90.

    Args:
        made: the plan.
        held: its accumulators.
    """
    one = made.asked
    m, n, k = one.blocks
    lines = [
        f"constexpr int TILE_M = {one.tile[0]}, TILE_N = {one.tile[1]}, TILE_K = {one.tile[2]};  // of a stage",
        f"constexpr int MMA_M = {one.extents[0]}, MMA_N = {one.extents[1]};  // of an instruction",
        f"constexpr int WARPGROUPS = {held.warpgroups};  // that multiply; one more copies",
        f"constexpr int BLOCKS_M = {m // held.warpgroups}, BLOCKS_N = {n}, BLOCKS_K = {k};  // of a warpgroup",
        f"constexpr int REGISTERS = {made.line.registers}, VALUES = {held.fragment.values};  // of an accumulator",
        f"constexpr int STAGES = {made.stages}, STAGE_BYTES = {made.transaction_bytes};",
        f"constexpr int BARRIERS = {made.barriers}, SHARED_BYTES = {made.barriers + BARRIER_BYTES * made.stages};",
        f"constexpr int ALIGNMENT = {max(made.a.alignment_bytes, made.b.alignment_bytes)};",
        *cluster.constants(one.cluster),
        f"constexpr int THREADS = {128 * (held.warpgroups + 1)};",
        f"constexpr int GROUP = {max(1, _GROUP_ROWS // one.tile[0])};  // rows of tiles, see tile_at",
        f"using TypeA = {CPP_TYPES[one.a.name]};",
        f"using TypeB = {CPP_TYPES[one.b.name]};",
        f"using TypeD = {CPP_TYPES[one.d]};",
        f"using Register = {'float' if one.d == 'f32' else 'int32_t' if one.d == 's32' else 'uint32_t'};",
    ]
    for side in (made.a, made.b):
        lines += ["", *_operand(side, side.matrix == "B" or made.loads is None)]
    low, high = (0, 3) if "u8" in (one.a.name, one.b.name) else (-1, 1) if one.d == "f16" else (-2, 2)
    lines += ["", "// The product is checked with integers between these."]
    lines.append(f"constexpr int LOWEST = {low}, HIGHEST = {high};")
    lines.append(f"constexpr bool INTEGERS = {'true' if one.d == 's32' else 'false'};")
    lines.append(f'constexpr const char* OPERATIONS = "{"OP" if one.d == "s32" else "FLOP"}";')
    return "\n".join([*lines, "", *_positions(held)])


def _operand(side: StagedOperand, by_word: bool) -> Iterator[str]:
    name = side.matrix
    low = name.lower()
    if len(side.tma.dimensions) != 2:
        raise DescriptorError(
            f"emit: tensor maps must have two dimensions, found {len(side.tma.dimensions)}; operand {name}"
        )
    unit = side.stage_bytes // 16
    assert side.stage_steps == tuple(s * unit for s in range(len(side.stage_steps)))
    yield f"// {name}: {side.derivation.element.name}, {side.derivation.major}-major, swizzle {side.derivation.swizzle}"
    yield f"constexpr int {name}_BASE = {side.base}, {name}_STAGE_BYTES = {side.stage_bytes};"
    yield f"constexpr bool {name}_MN_MAJOR = {'true' if side.derivation.major is Major.MN else 'false'};"
    if by_word:
        yield from _words(side)
    boxes = side.boxes
    yield f"constexpr int {name}_BOXES = {len(boxes)};  // where they begin in the tile, and in shared memory"
    yield step_function(f"{low}_box_mn", [box.origin[0] for box in boxes], "int")
    yield step_function(f"{low}_box_k", [box.origin[1] for box in boxes], "int")
    yield step_function(f"{low}_box_at", [box.offset_bytes for box in boxes])


def _words(side: StagedOperand) -> Iterator[str]:
    """The word of an operand, and what is added to it."""
    name, low = side.matrix, side.matrix.lower()
    rows = side.mn_steps
    if list(rows) != [i * rows[-1] // max(1, len(rows) - 1) for i in range(len(rows))]:
        raise DescriptorError(f"emit: the blocks of {name} must lie equally far apart, found {rows}")
    yield f"constexpr uint64_t {name}_WORD = {word_text(side.word & ~_START)};  // without its start address"
    yield step_function(f"{low}_mn_step", side.mn_steps)
    yield step_function(f"{low}_k_step", side.k_steps)


def _positions(held: Registers) -> Iterator[str]:
    """Row and column of a thread's value, from the layout of the fragment: element m + M n."""
    yield f"// An accumulator: {held.fragment.layout} of (thread, value) is m + {held.fragment.shape[0]} n."
    for kind, some in zip(("row", "column"), row_and_column(held.fragment.layout, held.fragment.shape[0]), strict=True):
        yield f"__device__ constexpr int d_{kind}(int thread, int value) {{\n  return {some};\n}}"
