"""A plan for sm90 as a CUDA program: copies by one thread, products by warpgroups, the result checked on the spot.

The text around the plan's numbers is ``sm90.cu.in``, that of its host ``check.cu.in`` and ``main.cu.in``. A persistent
kernel: each CTA takes output tiles in turn. One thread of the last warpgroup has the copy engine fill the stages; the
others multiply, and free a stage when the group of ``wgmma`` that read it is done, which is one stage later. Every
number that comes from the plan and not from the text is a C++ constant: a step that is linear a product, any other a
table.

Law: the words, the steps and the line of the instruction in the program are the plan's.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4, b_major="MN", verify=False)
>>> text = kernel(example)
>>> hex(example.b.word & ~0x3fff) in text, "a_k_step(int i) { return i * 2; }" in text, ", p, 1, 1, 0, 1;" in text
(True, True, True)
>>> print(step_function("a_k_step", (0, 2, 1024)))
__host__ __device__ constexpr uint32_t a_k_step(int i) {
  constexpr uint32_t all[] = {0, 2, 1024};
  return all[i];
}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from string import Template

from descriptors.errors import DescriptorError
from descriptors.gemm.accumulators import Registers
from descriptors.gemm.budget import BARRIER_BYTES
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_operands import StagedOperand, encode_arguments
from descriptors.gemm.program_support import check_cuda
from descriptors.gemm.programs import cluster, sm90_convolution, sm90_promotion, sm90_sparse, sm90_store
from descriptors.gemm.programs.c_expressions import CPP_TYPES, row_and_column
from descriptors.gemm.programs.sm90_wgmma import at_once, instruction, last_release, loads_of, stage
from descriptors.gemm.thread_registers import register_budget
from descriptors.smem.operands.operand import Major
from descriptors.text import counted, extents_text, word_text


def kernel(plan: Plan, name: str = "gemm") -> str:
    """The program: one file of CUDA C++ (C++17), with ``main``.

    Args:
        plan: a plan for sm90.
        name: of the kernel and the program.

    Raises:
        DescriptorError: if the plan is not for sm90, too many warpgroups leave too few registers, or the
            name is no identifier.
    """
    accumulators = plan.accumulators
    if not isinstance(accumulators, Registers):
        raise DescriptorError(f"emit: the plan must be for sm90 here, found {plan.asked.arch}")
    if re.fullmatch(r"[A-Za-z_]\w{0,60}", name, re.ASCII) is None:
        raise DescriptorError(f"emit: the name of a kernel must be an identifier, found {name!r}")
    check_cuda(plan)
    few, more = _setmaxnreg(plan)
    around = cluster.texts(plan.asked.cluster, sparse=plan.asked.sparse)
    places = dict(
        barriers=part("barriers"),
        encoder=Template(part("encoder")).substitute(name=name),
        head=_head(plan),
        name=name,
        gpu="a Hopper GPU",
        other_gpu="properties.major != 9",
        constants=constants(plan, accumulators),
        instruction="\n".join([instruction(plan), *loads_of(plan), sm90_store.helpers(plan)]),
        stage=stage(plan),
        last_release=last_release(plan),
        before="" if at_once(plan) else "    int before = -1;\n",
        **around,
        **sm90_store.texts(plan),
        **(sm90_sparse if plan.promotion is None else sm90_promotion).texts(plan, around["own_tile"]),
        fewer_registers=few,
        more_registers=more,
        tensor_maps="\n".join(filter(None, [*_maps(plan), sm90_store.host(plan), _strides(plan)])),
        a_memory=_memory(plan.a),
        b_memory=_memory(plan.b),
    )
    places |= sm90_convolution.texts(plan)
    whole = template("sm90") if plan.implicit is None else template("sm90", "fill", "sm90_convolution")
    return whole.substitute(places)


def _maps(plan: Plan) -> list[str]:
    if plan.implicit is not None:
        return [sm90_convolution.maps(plan, plan.implicit)]
    return [tensor_map(side.matrix, encode_arguments(side)) for side in (plan.a, plan.b)]


def template(name: str, *more: str) -> Template:
    """A program with its places: what is its own, what fills its operands and checks its product, and the host.

    Args:
        name: of the file.
        more: of the files that follow; those of a product if left out.
    """
    return Template("".join(part(one) for one in (name, *(more or ("fill", "check", "main")))))


def part(name: str) -> str:
    """The text of a file of programs.

    Args:
        name: of the file.
    """
    return files("descriptors.gemm.programs").joinpath(f"{name}.cu.in").read_text(encoding="utf-8")


def _setmaxnreg(plan: Plan) -> tuple[str, str]:
    """How the warpgroup of copies gives up registers, and what the others take of them; nothing if there is one."""
    budget = register_budget(plan)
    if budget is None or budget.warpgroups == 1:
        return "", ""
    few_text, more_text = (
        f'    asm volatile("setmaxnreg.{how}.sync.aligned.u32 {count};");'
        for how, count in (("dec", budget.copy), ("inc", budget.multiply))
    )
    return few_text, more_text


def _head(plan: Plan) -> str:
    loop = plan.asked
    return (
        f"// {loop.name}, {loop.a.name} by {loop.b.name} into {loop.d} (sm90): a tile of {extents_text(loop.tile)}, "
        f"{counted(plan.stages, 'stage')}.\n// Written by layoutalg from a plan whose product it proves."
    )


def _memory(side: StagedOperand) -> str:
    mn = "M" if side.matrix == "A" else "N"
    depth = "K / 2" if side.sparse else "K"
    rows = f"{mn} rows of {depth}" if side.derivation.major is not Major.MN else f"{depth} rows of {mn}"
    return f"{side.matrix} lies in memory as {rows}."


def tensor_map(name: str, arguments: Iterable[tuple[str, str]]) -> str:
    """The host function that encodes a tensor map.

    Args:
        name: of the operand.
        arguments: of ``cuTensorMapEncodeTiled``, as the plan names them.
    """
    call = dict(arguments)
    mn = "M" if name == "A" else "N"
    return f"""\
inline CUtensorMap tensor_map_{name.lower()}(const void* {name}, cuuint64_t {mn}, cuuint64_t K) {{
  const cuuint64_t extents[] = {call["globalDim"]}, strides[] = {call["globalStrides"]};
  const cuuint32_t box[] = {call["boxDim"]}, steps[] = {call["elementStrides"]};
  CUtensorMap made;
  const CUresult result = encoder()(&made, {call["tensorDataType"]}, {call["tensorRank"]}, const_cast<void*>({name}),
                                    extents, strides, box, steps, {call["interleave"]},
                                    {call["swizzle"]}, {call["l2Promotion"]},
                                    {call["oobFill"]});
  if (result != CUDA_SUCCESS) {{
    std::fprintf(stderr, "cuTensorMapEncodeTiled: error %d, operand {name}\\n", static_cast<int>(result));
    std::exit(2);
  }}
  return made;
}}
"""


def _strides(plan: Plan) -> str:
    """Strides of a tensor map are multiples of 16 bytes (CUDA Driver API, cuTensorMapEncodeTiled)."""
    tests = []
    for side, mn in ((plan.a, "M"), (plan.b, "N")):
        depth = "K / 2" if side.sparse else "K"
        tests.append(f"({mn if side.derivation.major is Major.MN else depth} * sizeof(Type{side.matrix})) % 16 == 0")
    if plan.metadata is not None:
        tests.append("K % GROUP_K == 0")
    text = " && ".join([*tests, *sm90_store.conditions(plan)])
    return (
        f"// The copy engine takes rows of whole 16 bytes alone.\n"
        f"inline bool strides_do(int M, int N, int K) {{\n  (void)M, (void)N, (void)K;\n  return {text};\n}}\n"
    )


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


def constants(plan: Plan, accumulators: Registers) -> str:
    """The constants of a plan for sm90.

    Args:
        plan: the plan.
        accumulators: its accumulators.
    """
    loop = plan.asked
    m, n, k = loop.blocks
    # Promoted accumulators go by 128 of K, and by its blocks only where A is loaded.
    of_k = f", BLOCKS_K = {k}" if plan.promotion is None or plan.loads is not None else ""
    values = "" if plan.epilogue.staged else f", VALUES = {accumulators.fragment.values}"
    lines = [
        f"constexpr int TILE_M = {loop.tile[0]}, TILE_N = {loop.tile[1]}, TILE_K = {loop.tile[2]};  // of a stage",
        f"constexpr int MMA_M = {loop.extents[0]}, MMA_N = {loop.extents[1]};  // of an instruction",
        f"constexpr int WARPGROUPS = {accumulators.warpgroups};  // that multiply; one more copies",
        f"constexpr int BLOCKS_M = {m // accumulators.warpgroups}, BLOCKS_N = {n}{of_k};  // of a warpgroup",
        f"constexpr int REGISTERS = {plan.line.registers}{values};  // of an accumulator",
        f"constexpr int STAGES = {plan.stages}, STAGE_BYTES = {plan.transaction_bytes};",
        f"constexpr int BARRIERS = {plan.barriers}, SHARED_BYTES = {plan.barriers + BARRIER_BYTES * plan.stages};",
        f"constexpr int ALIGNMENT = {max(plan.a.alignment_bytes, plan.b.alignment_bytes)};",
        *cluster.constants(loop.cluster),
        f"constexpr int THREADS = {128 * (accumulators.warpgroups + 1)};",
        f"constexpr int GROUP = {max(1, _GROUP_ROWS // loop.tile[0])};  // rows of tiles, see tile_at",
        f"using TypeA = {CPP_TYPES[loop.a.name]};",
        f"using TypeB = {CPP_TYPES[loop.b.name]};",
        f"using Register = {'float' if loop.d == 'f32' else 'int32_t' if loop.d == 's32' else 'uint32_t'};",
        *sm90_store.constants(plan),
        *sm90_convolution.constants(plan),
    ]
    lines += sm90_sparse.constants(plan) if plan.promotion is None else sm90_promotion.constants(plan.promotion)
    for side in (plan.a, plan.b):
        lines += ["", *_operand(side, side.matrix == "B" or plan.loads is None, plan.implicit is None)]
    low, high = (0, 3) if "u8" in (loop.a.name, loop.b.name) else (-1, 1) if loop.d == "f16" else (-2, 2)
    lines += ["", "// The product is checked with integers between these."]
    lines.append(f"constexpr int LOWEST = {low}, HIGHEST = {high};")
    lines.append(f"constexpr bool INTEGERS = {'true' if loop.d == 's32' else 'false'};")
    lines.append(f'constexpr const char* OPERATIONS = "{"OP" if loop.d == "s32" else "FLOP"}";')
    return "\n".join([*lines, "", *_positions(accumulators)])


def _operand(side: StagedOperand, by_word: bool, of_matrix: bool) -> Iterator[str]:
    name = side.matrix
    low = name.lower()
    unit = side.stage_bytes // 16
    assert side.stage_steps == tuple(s * unit for s in range(len(side.stage_steps)))
    yield f"// {name}: {side.derivation.element.name}, {side.derivation.major}-major, swizzle {side.derivation.swizzle}"
    yield f"constexpr int {name}_BASE = {side.base}, {name}_STAGE_BYTES = {side.stage_bytes};"
    if of_matrix:
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
    yield f"constexpr uint64_t {name}_WORD = {word_text(side.word & ~_START)};  // without its start address"
    yield step_function(f"{low}_mn_step", side.mn_steps)
    yield step_function(f"{low}_k_step", side.k_steps)


def _positions(accumulators: Registers) -> Iterator[str]:
    """Row and column of a thread's value, from the layout of the fragment: element m + M n."""
    layout, rows = accumulators.fragment.layout, accumulators.fragment.shape[0]
    yield f"// An accumulator: {layout} of (thread, value) is m + {rows} n."
    for kind, some in zip(("row", "column"), row_and_column(layout, rows), strict=True):
        yield f"__device__ constexpr int d_{kind}(int thread, int value) {{\n  return {some};\n}}"
