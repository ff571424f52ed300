"""Write a ``wgmma`` plan as a CUDA program with a host program that checks the result.

The program is ``sm90.cuh`` with its includes. The kernel is persistent: each CTA computes several output tiles. One
thread of the last warpgroup issues the TMA copies. The other warpgroups multiply, and free a stage when the group of
``wgmma`` that read it is complete, which is one stage later. Every number of the plan is a C++ constant; linear steps
are products, others tables.

Invariant: the descriptors, the steps and the instruction in the program are those of the plan.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4, b_major="MN", verify=False)
>>> text = kernel(example)
>>> hex(example.b.word & ~0x3fff) in text, "a_k_step(int i) { return i * 2; }" in text, ", p, 1, 1, 0, 1;" in text
(True, True, True)
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptors.gemm.budget import BARRIER_BYTES
from descriptors.gemm.plan import HopperPlan
from descriptors.gemm.plan_metadata import Metadata
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.program_support import check_cuda
from descriptors.gemm.programs.c_expressions import CPP_TYPES, row_and_column
from descriptors.gemm.programs.cuda_files import assemble
from descriptors.gemm.programs.plan_constants import (
    boolean,
    box_constants,
    convolution_constants,
    epilogue_constants,
    epilogue_functions,
    epilogue_options,
    map_constants,
    step_function,
    type_headers,
)
from descriptors.gemm.programs.sm90_wgmma import instruction, loads_of
from descriptors.gemm.promotion import GROUP, PADDED
from descriptors.gemm.thread_registers import register_budget
from descriptors.smem.emitters.recipe import check_identifier
from descriptors.smem.operands.operand import Major
from descriptors.text import counted, extents_text, word_text
from layoutalg import Fragment, fragment

#: The mask of the start address in a descriptor, bits 0-13.
_START = 0x3FFF
#: Approximate number of rows of C in the output tiles that are computed at the same time.
_GROUP_ROWS = 2048


def kernel(plan: HopperPlan, name: str = "gemm") -> str:
    """Return the program: one file of CUDA C++ (C++17), with ``main``.

    Args:
        plan: a plan of ``wgmma``.
        name: name of the kernel and the program.

    Raises:
        DescriptorError: if the name is not an identifier, or programs do not support the plan.
    """
    check_identifier(name)
    check_cuda(plan)
    plan_text = "\n\n".join(
        filter(None, [constants(plan), instruction(plan), *loads_of(plan), epilogue_functions(plan)])
    )
    loop = plan.asked
    headers = type_headers(loop.a.name, loop.b.name, loop.d, plan.epilogue.c)
    return _head(plan, name) + assemble("sm90", {"plan": plan_text, "plan_headers": headers}, options(plan), name)


def options(plan: HopperPlan) -> dict[str, int]:
    """Return the options of the files: the features of this plan's kernel.

    Args:
        plan: a plan of ``wgmma``.
    """
    loop, staged, budget = plan.asked, plan.epilogue.staged, register_budget(plan)
    matrices = staged is not None and staged.matrices
    if staged is not None and matrices:  # write_piece in sm90.cuh assumes this
        assert [staged.pointer(1 << bit) for bit in range(7)] == [
            (1, 0), (2, 0), (4, 0), (8, 0), (0, 8), (16, 0), (32, 0)
        ]  # fmt: skip
    one_group = plan.loads is not None or plan.metadata is not None or plan.promotion is not None or plan.stages == 1
    features = {
        "BARRIERS_USED": True,
        "CLUSTERED": loop.cluster != (1, 1),
        "CONVOLUTION": plan.implicit is not None,
        "D_F16": loop.d == "f16",
        "D_S32": loop.d == "s32",
        "EARLY_RELEASE": one_group,  # a stage is freed as soon as it is multiplied, not one stage later
        "LOADED_A": plan.loads is not None,
        "PROMOTED": plan.promotion is not None,
        "REALLOCATED": budget.warpgroups > 1,
        "SELECTED": plan.metadata is not None and len(plan.metadata.selectors) > 1,
        "SPARSE": plan.metadata is not None,
        "STORED_MATRICES": matrices,
    }
    return {name: 1 for name, value in features.items() if value} | epilogue_options(plan)


def _head(plan: HopperPlan, name: str) -> str:
    loop, convolution = plan.asked, plan.implicit is not None
    sizes = "N H W C K" if convolution else "M N K"
    if convolution:
        memory = (
            "// A are the activations, N H W C in memory; a row of the product is an output pixel, in the order of\n"
            "// N P Q, and C is therefore N P Q K. B are the filters, K R S C in memory."
        )
    else:
        memory = f"// {_memory(plan.a)} {_memory(plan.b)}"
    if plan.metadata is not None:
        memory += _METADATA_MEMORY
    if plan.promotion is not None:
        memory += _FACTOR_MEMORY
    return f"""\
// {loop.name}, {loop.a.name} by {loop.b.name} into {loop.d} (sm90): a tile of {extents_text(loop.tile)}, \
{counted(plan.stages, "stage")}.
// Written by layoutalg from a plan whose product it proves.
// Build:  nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a -o {name} {name}.cu
// Run:    ./{name} [{sizes}] [--time]
//
// C = A B, of M x N, in M rows of N.
{memory}
// The exit status is 0 if every element of C is the one that a plain product has, 1 if not, 2 if CUDA fails or an
// argument is wrong, 3 where there is no Hopper GPU. With LAYOUTALG_NO_MAIN defined this file is a header: launch()
// below.

"""


_METADATA_MEMORY = """
// A is stored without its zeros, K / 2 of K. Its metadata are 128 words for each 64 rows and COVERED elements along K,
// one for each thread of a warpgroup, first all along K: ((M + 63) / 64) ((K + COVERED - 1) / COVERED) 128 words."""
_FACTOR_MEMORY = """
// Factors, f32: of A one for a row and GROUP_K elements along K, in ceil(K / GROUP_K) rows of M, M padded to a multiple
// of PADDED; of B one for GROUP_K x GROUP_K, in ceil(N / GROUP_K) rows of ceil(K / GROUP_K)."""


def _memory(side: StagedOperand) -> str:
    mn = "M" if side.matrix == "A" else "N"
    depth = "K / 2" if side.sparse else "K"
    rows = f"{mn} rows of {depth}" if side.derivation.major is not Major.MN else f"{depth} rows of {mn}"
    return f"{side.matrix} lies in memory as {rows}."


def constants(plan: HopperPlan) -> str:
    """Return the constants of the program of a ``wgmma`` plan.

    Args:
        plan: the plan.
    """
    accumulators = plan.accumulators
    loop, budget, (cluster_m, cluster_n) = plan.asked, register_budget(plan), plan.asked.cluster
    m, n, k = loop.blocks
    warpgroups, staged = accumulators.warpgroups, plan.epilogue.staged
    low, high = (0, 3) if "u8" in (loop.a.name, loop.b.name) else (-1, 1) if loop.d == "f16" else (-2, 2)
    # With promoted accumulators, the loop is over 128 of K, and over K blocks only if A is loaded into registers.
    of_k = f", BLOCKS_K = {k}" if plan.promotion is None or plan.loads is not None else ""
    values = "" if staged else f", VALUES = {accumulators.fragment.values}"
    lines = [
        f"constexpr int TILE_M = {loop.tile[0]}, TILE_N = {loop.tile[1]}, TILE_K = {loop.tile[2]};  // of a stage",
        f"constexpr int MMA_M = {loop.extents[0]}, MMA_N = {loop.extents[1]};  // of an instruction",
        f"constexpr int WARPGROUPS = {warpgroups};  // that multiply; one more copies",
        f"constexpr int BLOCKS_M = {m // warpgroups}, BLOCKS_N = {n}{of_k};  // of a warpgroup",
        f"constexpr int REGISTERS = {plan.line.registers}{values};  // of an accumulator",
        f"constexpr int STAGES = {plan.stages}, STAGE_BYTES = {plan.transaction_bytes};",
        f"constexpr int BARRIERS = {plan.barriers}, SHARED_BYTES = {plan.barriers + BARRIER_BYTES * plan.stages};",
        f"constexpr int ALIGNMENT = {max(plan.a.alignment_bytes, plan.b.alignment_bytes)};",
        f"constexpr int CTAS = {cluster_m * cluster_n};  // of a cluster",
        *_cluster_constants(cluster_m, cluster_n),
        f"constexpr int THREADS = {128 * (warpgroups + 1)};",
        f"constexpr int GROUP = {max(1, _GROUP_ROWS // loop.tile[0])};  // rows of tiles, see tile_at",
        f"constexpr int K_PER_A = {2 if loop.sparse else 1};  // elements along K for each that A stores",
        f"using TypeA = {CPP_TYPES[loop.a.name]};",
        f"using TypeB = {CPP_TYPES[loop.b.name]};",
        f"using Register = {'float' if loop.d == 'f32' else 'int32_t' if loop.d == 's32' else 'uint32_t'};",
        *epilogue_constants(plan),
    ]
    if budget.warpgroups > 1:
        lines.append(f"constexpr int COPY_REGISTERS = {budget.copy}, MULTIPLY_REGISTERS = {budget.multiply};")
    if staged is not None:
        lines.append(f"constexpr int PIECE_VALUES = {staged.columns // 2};  // of a thread")
    if plan.implicit is not None:
        lines += ["", *convolution_constants(plan.implicit)]
    if plan.metadata is not None:
        lines += ["", *_sparse_constants(plan, plan.metadata)]
    if plan.promotion is not None:
        lines += [
            "",
            f"constexpr int GROUP_K = {GROUP};  // elements that share a factor",
            f"constexpr int PADDED = {PADDED};  // rows of A's factors are padded to a multiple",
            f"constexpr int GROUPS = {plan.promotion.groups}, GROUP_BLOCKS = {plan.promotion.blocks};"
            "  // a stage; K blocks of one",
        ]
    for side in (plan.a, plan.b):
        lines += ["", *_operand(side, side.matrix == "B" or plan.loads is None)]
    lines += [
        "",
        "// The product is checked with integers between these, on a GPU of this compute capability.",
        f"constexpr int LOWEST = {low}, HIGHEST = {high}, CAPABILITY = 90;",
        f"constexpr bool INTEGERS = {boolean(loop.d == 's32')}, LATER_TOO = false;",
        f'constexpr const char *OPERATIONS = "{"OP" if loop.d == "s32" else "FLOP"}", *GPU = "a Hopper GPU";',
        "",
        *_places("d", accumulators.fragment, accumulators.fragment.shape[0]),
    ]
    return "\n".join(lines)


def _cluster_constants(m: int, n: int) -> Iterator[str]:
    yield f"constexpr int SPAN_M = {m} * TILE_M, SPAN_N = {n} * TILE_N;  // rows and columns of C for a cluster"
    if (m, n) != (1, 1):
        yield f"constexpr int CLUSTER_M = {m}, CLUSTER_N = {n};"
        yield "constexpr int PEERS = CLUSTER_M + CLUSTER_N - 1;  // that take copies from a CTA, itself among them"


def _operand(side: StagedOperand, by_word: bool) -> Iterator[str]:
    name, low, unit = side.matrix, side.matrix.lower(), side.stage_bytes // 16
    assert side.stage_steps == tuple(s * unit for s in range(len(side.stage_steps)))
    yield f"// {name}: {side.derivation.element.name}, {side.derivation.major}-major, swizzle {side.derivation.swizzle}"
    yield f"constexpr int {name}_BASE = {side.base}, {name}_STAGE_BYTES = {side.stage_bytes};"
    yield from map_constants(name, side.tma, side.derivation.major)
    if by_word:
        yield f"constexpr uint64_t {name}_WORD = {word_text(side.word & ~_START)};  // without its start address"
        yield step_function(f"{low}_mn_step", side.mn_steps)
        yield step_function(f"{low}_k_step", side.k_steps)
    yield from box_constants(name, side.boxes)


def _sparse_constants(plan: HopperPlan, metadata: Metadata) -> Iterator[str]:
    """Yield the constants and functions of the metadata: the words that a thread loads."""
    pack, codes = metadata.packed, fragment(f"wgmma.sp.{plan.asked.name}.E.{plan.asked.a.name}")
    group, stored = pack.group, pack.stored
    yield f"// A has a code of 4 bits for each {group} elements along K, of which {stored} is stored, or zero."
    yield f"constexpr int GROUP_K = {group}, STORED = {stored}, COVERED = {pack.covered};  // by 128 words"
    yield f"constexpr int PACKS = {metadata.registers}, SELECTORS = {pack.blocks};  // PACKS: of 128 words, in a stage"
    values = codes.values
    yield f"constexpr int MMA_K = {pack.depth}, E_VALUES = {values};  // of an instruction; codes' bits of a thread"
    yield from _places("e", codes, 64)


def _places(name: str, layout_fragment: Fragment, rows: int) -> Iterator[str]:
    """Yield functions for row and column of a thread's value, from a fragment (thread, value) to m + M n."""
    yield f"// {name}: {layout_fragment.layout} of (thread, value) is m + {rows} n."
    for kind, text in zip(("row", "column"), row_and_column(layout_fragment.layout, rows), strict=True):
        yield f"__host__ __device__ constexpr int {name}_{kind}(int thread, int value) {{\n  return {text};\n}}"
