"""The parts of a program of ``mma.sync`` that say who fills the stages: all threads, or one that asks the copy engine.

Law: a program has either way of copying, and nothing of the other.

>>> from descriptors.gemm.mma_planner import mma_plan
>>> plans = [mma_plan("mma.m16n8k16", "bf16", tile=(64, 64, 32), arch=arch, verify=False) for arch in ("sm80", "sm120")]
>>> [[word in "".join(texts(one, "gemm").values()) for word in ("cp.async.cg", "mbarrier")] for one in plans]
[[True, False], [False, True]]
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.gemm.mma_operand import MmaOperand
from descriptors.gemm.mma_plan import MmaPlan
from descriptors.gemm.plan_operands import map_arguments
from descriptors.gemm.programs import cluster
from descriptors.gemm.programs.c_expressions import coordinate
from descriptors.gemm.programs.sm90_kernel import part, step_function, tensor_map
from descriptors.smem.operands.operand import Major
from descriptors.smem.tma.tma_plan import TmaPlan
from layoutalg import AnyLayout, make_identity_layout


def texts(plan: MmaPlan, name: str) -> dict[str, str]:
    """What stands at each place of the template.

    Args:
        plan: the plan.
        name: of the program, for its messages.
    """
    return _by_engine(plan, name) if plan.by_engine else _by_threads(plan)


def constants(side: MmaOperand) -> Iterator[str]:
    """What the plan says of an operand's copies."""
    name, low = side.matrix, side.matrix.lower()
    if isinstance(side.fill, TmaPlan):
        boxes = side.fill.boxes
        yield f"constexpr int {name}_BOXES = {len(boxes)};  // where they begin in the tile, and in shared memory"
        yield step_function(f"{low}_box_mn", [box.origin[0] for box in boxes], "int")
        yield step_function(f"{low}_box_k", [box.origin[1] for box in boxes], "int")
        yield step_function(f"{low}_box_at", [box.offset_bytes for box in boxes])
        return
    count, along, depth = side.fill_elements.shape
    mn, k = side.fill.tiler
    yield f"constexpr int {name}_COPY_THREADS = {count};  // each copies 16 bytes, so many times, so far apart"
    apart = f"{name}_APART_MN = {mn}, {name}_APART_K = {k}"
    yield f"constexpr int {name}_COPIES_MN = {along}, {name}_COPIES_K = {depth}, {apart};"
    copies = side.fill.thrfrg_D(make_identity_layout(side.tile))
    yield from functions(f"{low}_copy", {"thread": copies[0]}, ("mn", "k"))


def functions(low: str, modes: dict[str, AnyLayout], names: tuple[str, str]) -> Iterator[str]:
    """Row and column as functions of the variables that go into some modes of an identity layout."""
    for name, text in zip(names, coordinate(modes), strict=True):
        given = ", ".join(f"int {one}" if one in text else "int" for one in modes)
        head = f"__host__ __device__ constexpr int {low}_{name}({given})"
        line = f"{head} {{ return {text}; }}"
        yield line if len(line) <= 120 else f"{head} {{\n  return {text};\n}}"


def _by_threads(plan: MmaPlan) -> dict[str, str]:
    return {
        "copy_helpers": _COPY_16,
        "copy_stage": _COPY_STAGE.format(a=_copies(plan.a, "m"), b=_copies(plan.b, "n")),
        "kernel_operands": "const TypeA* a, const TypeB* b",
        "copy_operands": "a, b",
        "copier": "",
        "begin": "",
        "commit": '    asm volatile("cp.async.commit_group;" ::: "memory");\n',
        "wait": 'asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");',
        "turn_state": "",
        "turn": "",
        "tensor_maps": "",
        "encode": "",
        "launch_operands": "a, b",
        "includes": "",
    }


def _by_engine(plan: MmaPlan, name: str) -> dict[str, str]:
    maps = [
        tensor_map(side.matrix, map_arguments(side.fill, side.matrix, halved=side.packed > 1))
        for side in (plan.a, plan.b)
        if isinstance(side.fill, TmaPlan)
    ]
    return {
        "copy_helpers": f"{part('barriers')}{cluster.texts((1, 1))['copy_box']}",
        "copy_stage": _ENGINE_STAGE.format(a=_boxes(plan.a, "m0"), b=_boxes(plan.b, "n0")),
        "kernel_operands": "const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b",
        "copy_operands": "&map_a, &map_b",
        "copier": "thread == 0 && ",
        "begin": _BARRIERS,
        "commit": "",
        "wait": "barrier_wait(base + BARRIERS + 8 * stage, parity);",
        "turn_state": "  uint32_t parity = 0;\n",
        "turn": ", parity ^= 1",
        "tensor_maps": part("encoder").replace("$name", name) + "\n".join([*maps, ""]),
        "encode": "  const CUtensorMap map_a = tensor_map_a(a, M, K), map_b = tensor_map_b(b, N, K);\n",
        "launch_operands": "map_a, map_b",
        "includes": "#include <cuda.h>\n#include <cudaTypedefs.h>\n",
    }


def _copies(side: MmaOperand, mn: str) -> str:
    """The copies of one thread."""
    name, low = side.matrix, side.matrix.lower()
    turned = side.major is Major.MN
    at = (
        f"(k0 + y) * static_cast<size_t>({mn}) + {mn}0 + x"
        if turned
        else f"({mn}0 + x) * static_cast<size_t>(k) + k0 + y"
    )
    return f"""\
  if (thread < {name}_COPY_THREADS)
#pragma unroll
    for (int i = 0; i < {name}_COPIES_MN * {name}_COPIES_K; ++i) {{
      const int x = {low}_copy_mn(thread) + i % {name}_COPIES_MN * {name}_APART_MN;
      const int y = {low}_copy_k(thread) + i / {name}_COPIES_MN * {name}_APART_K;
      const bool inside = {mn}0 + x < {mn} && k0 + y < k;
      const uint32_t to = base + {name}_BASE + stage * {name}_STAGE_BYTES + {low}_byte(x, y);
      copy_16(to, {low} + (inside ? {at} : 0), inside);
    }}"""


def _boxes(side: MmaOperand, begin: str) -> str:
    """The copies of the engine."""
    name, low = side.matrix, side.matrix.lower()
    depth = "k0 / 2" if side.packed > 1 else "k0"
    pair = (f"{begin} + {low}_box_mn(box)", f"{depth} + {low}_box_k(box)")
    inner, outer = pair if side.major is Major.MN else pair[::-1]
    return f"""\
#pragma unroll
  for (int box = 0; box < {name}_BOXES; ++box)
    copy_box(base + {name}_BASE + stage * {name}_STAGE_BYTES + {low}_box_at(box), map_{low}, {inner},
             {outer}, full);"""


_COPY_16 = """\
// Copies 16 bytes without waiting for them; zeros where nothing is to be read.
__device__ __forceinline__ void copy_16(uint32_t to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}"""
_COPY_STAGE = """\
// A thread's part of a stage; rows and columns beyond the matrix are zeros.
__device__ __forceinline__ void copy_stage(uint32_t base, int stage, const TypeA* a, const TypeB* b, int m0, int n0,
                                           int k0, int m, int n, int k) {{
  const int thread = threadIdx.x;
{a}
{b}
}}"""
_ENGINE_STAGE = """\
// One thread has the copy engine fill a stage; what lies beyond the matrix is zeros.
__device__ __forceinline__ void copy_stage(uint32_t base, int stage, const CUtensorMap* map_a, const CUtensorMap* map_b,
                                           int m0, int n0, int k0, int, int, int) {{
  const uint32_t full = base + BARRIERS + 8 * stage;
  barrier_expect(full, STAGE_BYTES);
{a}
{b}
}}"""
_BARRIERS = """\
  if (base % ALIGNMENT) __trap();
  if (thread == 0) {
    for (int stage = 0; stage < STAGES; ++stage) barrier_init(base + BARRIERS + 8 * stage, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
"""
