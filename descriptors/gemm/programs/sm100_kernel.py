r"""Write the kernel of a ``tcgen05`` plan in CUDA C++, with a host program that checks it: assembled, never run.

The program is ``sm100.cuh`` with its includes. Constants, the functions around the plan's instructions, and every copy,
multiplication and store of a tile are written from the plan, each with its own numbers. With two sets of accumulators
the kernel is persistent; ``descriptors.gemm.turns`` defines and proves its barriers.

The code that stores C ran on an H200 with given sums. No complete kernel was run.

Invariant: the kernel computes every descriptor of the plan from those of the first stage and the steps. It contains
every PTX line of the plan, with the operands as numbers of ``asm``. Its stores use the plan's map from (thread, value)
to elements for every thread and value of every load.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False)
>>> text = kernel(example, "gemm")
>>> text.count("multiply(tmem + ")
4
>>> print(*[line.strip() for line in instructions(example).splitlines() if "tcgen05.mma" in line])
"tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n"
>>> element_steps(example.accumulators.readout)
((1, 0), (0, 1), (32, 0))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descriptors.gemm.accumulators import TensorColumns
from descriptors.gemm.epilogue import BITS
from descriptors.gemm.plan import BlackwellPlan
from descriptors.gemm.plan_metadata import MEMORY_ROW
from descriptors.gemm.program_support import FACTORS, check_cuda
from descriptors.gemm.programs.c_expressions import CPP_TYPES, offset_expression
from descriptors.gemm.programs.cuda_files import assemble
from descriptors.gemm.programs.inner_loop_ptx import barriers
from descriptors.gemm.programs.plan_constants import (
    convolution_constants,
    epilogue_constants,
    epilogue_functions,
    epilogue_options,
    map_constants,
    number_code,
    type_headers,
)
from descriptors.gemm.turns import free_barriers
from descriptors.smem.emitters.recipe import check_identifier
from descriptors.smem.instructions.rules import type_name
from descriptors.targets import architecture
from descriptors.text import word_text
from descriptors.tmem.readout import Load, Readout
from layoutalg import make_layout

#: Bytes of a row of the scale-factor tensor; a stage of one operand is a whole number of rows.
FACTOR_ROW = 128
_LANES = 32


def kernel(plan: BlackwellPlan, name: str = "gemm") -> str:
    """Return the program: device functions, kernel and host program.

    Args:
        plan: a plan of ``tcgen05.mma``.
        name: name of the kernel.

    Raises:
        DescriptorError: if the name is not an identifier.

    >>> from descriptors.gemm.planner import plan
    >>> kernel(plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False), "2")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: emit: name '2' is not an identifier of at most 64 letters and digits
    """
    check_identifier(name)
    check_cuda(plan)
    accumulators, number = plan.accumulators, architecture(plan.asked.arch).number
    deeper = "  " * (accumulators.sets > 1)
    head = f"""\
// {plan.headline}.
// Build:  nvcc -std=c++17 -O3 -gencode arch=compute_{number}a,code=sm_{number}a -o {name} {name}.cu
// Run:    ./{name}
//
// The exit status is 0 if every element of C is the one that a plain product has, 1 if not, 2 if CUDA fails or an
// argument is given, 3 where there is no such GPU.

"""
    pieces = {
        "plan": "\n\n".join(filter(None, ["\n".join(_constants(plan)), instructions(plan), epilogue_functions(plan)])),
        "plan_headers": type_headers(plan.epilogue.c),
        "plan_copies": "\n".join(deeper + line for line in _copies(plan)),
        "plan_multiplications": "\n".join(deeper + line for line in _stage(plan)),
        "plan_stores": "\n".join(stores(plan)),
    }
    return head + assemble("sm100", pieces, options(plan), name)


def options(plan: BlackwellPlan) -> dict[str, int]:
    """Return the options of the files: the features of this plan's kernel.

    Args:
        plan: a plan of ``tcgen05.mma``.
    """
    accumulators, loop = plan.accumulators, plan.asked
    features = {
        "BARRIERS_USED": True,
        "CONVOLUTION": plan.implicit is not None,
        "D_F16": loop.d == "f16",
        "PAIR": loop.cta_group == 2,
        "SCALED": plan.scales is not None,
        "SPARSE": plan.metadata is not None,
        "TURNS": accumulators.sets > 1,
    }
    return {name: 1 for name, value in features.items() if value} | epilogue_options(plan)


def _constants(plan: BlackwellPlan) -> Iterator[str]:
    """Yield the constants of the kernel, then those of the host program."""
    loop, accumulators, number = plan.asked, plan.accumulators, architecture(plan.asked.arch).number
    full, empty, done = barriers(plan)
    turns = accumulators.sets > 1
    after = 32 if turns else 8  # bytes of the accumulators' barriers: two done and two free, or one
    yield f"constexpr int TILE_M = {loop.tile[0]}, TILE_N = {loop.tile[1]}, TILE_K = {loop.tile[2]};  // of a stage"
    yield f"constexpr int CTA_GROUP = {loop.cta_group};  // CTAs that work on one instruction"
    yield f"constexpr int STAGES = {plan.stages}, STAGE_BYTES = {plan.transaction_bytes};  // of one CTA"
    yield f"constexpr int FULL = {full}, EMPTY = {empty}, DONE = {done};  // barriers of stages, and of accumulators"
    if turns:
        comment = f"two sets that share {len(accumulators.shared)} columns" if accumulators.shared else "two sets"
        frees, step = free_barriers(accumulators), accumulators.step
        yield f"constexpr int FREE = DONE + 16, FREES = {frees}, SET_STEP = {step};  // {comment}"
    yield f"constexpr int TMEM = DONE + {after}, SHARED_BYTES = {done + after + 8}, THREADS = 192;"
    if plan.epilogue.staged is not None or plan.epilogue.terms:
        yield f"constexpr int VALUES = {accumulators.readout.values};  // of a load of accumulators"
    yield from epilogue_constants(plan)
    if plan.epilogue.splits > 1:
        yield f"using Register = {CPP_TYPES[loop.d]};"
    if plan.implicit is not None:
        yield from ("", *convolution_constants(plan.implicit))
        yield f"constexpr int CHANNEL_BLOCKS = {plan.implicit.blocks};  // of TILE_K"
    yield from ("", "// What the host multiplies.")
    low, high = (-1, 1) if BITS[plan.epilogue.c] == 8 else (-3, 3)  # an 8-bit C must not saturate
    low = 0 if "u8" in (loop.a.name, loop.b.name) else low
    yield f"constexpr int LOWEST = {low}, HIGHEST = {high};"
    poison = "0x80" if loop.d == "s32" else "0xff"  # no sum, and no number
    yield f"constexpr int POISON = {poison}, CAPABILITY = {number};"
    yield "constexpr bool LATER_TOO = false;"
    yield f'constexpr const char* GPU = "a GPU of compute capability {number // 10}.{number % 10}";'
    yield f"using Sum = {'int64_t' if loop.d == 's32' else 'float'};"
    if plan.implicit is None:
        ragged = plan.scales is None and plan.metadata is None and loop.tile[1] > 16
        yield f"constexpr int TEST_TILES = {4 if turns else 2}, RAGGED = {16 if ragged else 0};"
        yield f"constexpr int K_PER_A = {2 if loop.sparse else 1};  // elements along K for each that A stores"
    for side in (plan.a, plan.b):
        codes = ", ".join(hex(number_code(type_name(side.derivation.element), value)) for value in range(low, high + 1))
        yield from map_constants(side.matrix, side.tma, side.derivation.major)
        yield f"constexpr uint32_t {side.matrix}_CODES[] = {{{codes}}};"
    if plan.metadata is not None:
        one = plan.metadata.packed
        yield f"constexpr int GROUP_K = {one.group}, STORED = {one.stored}, TOGETHER = {one.together};"
        yield f"constexpr int E_ROWS = {one.rows}, E_BLOCK_BYTES = {plan.metadata.block_bytes};"
        yield f"constexpr int E_BOX_ROWS = {plan.metadata.boxes[0]};"
        modes = make_layout(*list(plan.metadata.layout[0])[:-1]), plan.metadata.layout[1]
        yield _place("e_bit", offset_expression(modes))
    if plan.scales is not None:
        first, second = FACTORS[plan.scales.dtype]
        yield f"constexpr int VECTOR = {plan.scales.vector}, FACTOR_1 = {first}, FACTOR_2 = {second};"
        for low_name, factors in (("sfa", plan.scales.a), ("sfb", plan.scales.b)):
            assert factors.vector * (1 + loop.sparse) == plan.scales.vector
            yield f"constexpr int {low_name.upper()}_BYTES = {factors.bytes};"
            yield _place(f"{low_name}_byte", offset_expression((factors.memory[0], factors.memory[1])))


def _place(name: str, expression: str) -> str:
    return f"inline size_t {name}(size_t row, size_t column) {{ return {expression}; }}"


def _copies(plan: BlackwellPlan) -> Iterator[str]:
    """Yield the copies of a stage; a CTA of a pair has half of the rows of A, and half of B's rows in every N block."""
    if plan.implicit is not None:
        yield "      const uint32_t tap = t / CHANNEL_BLOCKS, channel = t % CHANNEL_BLOCKS * TILE_K;"
    for side, tile, kind in ((plan.a, "tile_m * TILE_M", "pixels"), (plan.b, "tile_n * TILE_N", "filters")):
        low = side.matrix.lower()
        yield f"      const uint32_t {low}_row = {tile} + rank * {side.run};"
        yield f"      const uint32_t {low}_to = smem + {side.base} + s * {side.stage_bytes};"
        for box in side.boxes:
            to = f"{low}_to + {box.offset_bytes}, &map_{low}"
            if plan.implicit is not None:
                coordinates = f"channel + {box.origin[1]}, {low}_row + {side.first_row(box)}, tap"
                coordinates += ", shape" * (kind == "pixels")
                yield f"      copy_{kind}({to}, {coordinates}, full);"
                continue
            places = []
            for dimension, position in zip(side.tma.dimensions, side.coordinates(box), strict=True):
                begin = f"t * {'(TILE_K / 2)' if side.sparse else 'TILE_K'}" if dimension.mode else f"{low}_row"
                places.append(f"{begin} + {position}")
            yield f"      copy_box({to}, {', '.join(places)}, full);"
    if plan.metadata is not None:
        (box_rows, count), of_m = plan.metadata.boxes, plan.metadata.blocks
        for index in range(of_m * count):
            m, i = divmod(index, count)
            down = "(tile_m * CTA_GROUP + rank)" + (f" * {of_m} + {m}" if of_m > 1 else "")
            to = f"smem + {plan.metadata.base + index * box_rows * MEMORY_ROW} + s * {plan.metadata.bytes}"
            begin = f"(({down}) * k_tiles + t) * {box_rows * count} + {i * box_rows}"
            yield f"      copy_box({to}, &map_e, 0, {begin}, full);"
    if plan.scales is not None:
        one = plan.scales
        blocks = ("((tile_m * CTA_GROUP + rank) * k_tiles + t)", "(tile_n * k_tiles + t)")
        for low, factors, base, block in zip(("sfa", "sfb"), (one.a, one.b), one.bases, blocks, strict=True):
            rows, to = factors.bytes // FACTOR_ROW, f"smem + {base} + s * {factors.bytes}"
            yield f"      copy_box({to}, &map_{low}, 0, {block} * {rows}, full);"


def _stage(plan: BlackwellPlan) -> Iterator[str]:
    """Yield the instructions of a stage, each with its own numbers."""
    for side in (plan.a, plan.b):
        step = side.stage_bytes // 16
        assert side.stage_steps == tuple(step * s for s in range(plan.stages))
        yield f"      const uint64_t {side.matrix.lower()} = placed({word_text(side.word)}ull, smem, s * {step});"
    for copy in plan.column_copies():
        moved = f"placed({word_text(copy.word)}ull, smem, s * {copy.step})"
        yield f"      copy_{copy.what}(tmem + {copy.column}, {moved});"
    for multiplication in plan.multiplications():
        words = f"a + {multiplication.a_step}, b + {multiplication.b_step}"
        more = ("t - first" if plan.epilogue.splits > 1 else "t") if multiplication.block[2] == 0 else "1"
        others = "" if multiplication.metadata is None else f", tmem + {multiplication.metadata}"
        others += "".join(f", tmem + {word_text(pointer, 32)}u" for pointer in multiplication.factors)
        idesc = f"{word_text(multiplication.idesc, 32)}u"
        yield f"      multiply({_set(plan.accumulators)} + {multiplication.column}, {words}, {idesc}{others}, {more});"


def _set(accumulators: TensorColumns) -> str:
    """Return the C expression for the first column of a tile's accumulators."""
    return "set" if accumulators.sets > 1 else "tmem"


def instructions(plan: BlackwellPlan) -> str:
    """Return the functions around the plan's instructions.

    Args:
        plan: a plan of ``tcgen05.mma``.

    >>> from descriptors.gemm.planner import plan
    >>> text = instructions(plan("m128n16k64", "e2m1", tile=(128, 16, 128), kind="mxf4", stages=2, verify=False))
    >>> [line.split("(")[0].split()[-1] for line in text.splitlines() if line.startswith("__device__")]
    ['multiply', 'copy_factors_a', 'copy_factors_b', 'load', 'allocate', 'deallocate']
    """
    accumulators, group = plan.accumulators, plan.asked.cta_group
    parts = [
        _function(
            f"copy_{kind}(uint32_t to, uint64_t word)",
            f'"tcgen05.cp.cta_group::{group}.{shape} [%0], %1;" ::"r"(to), "l"(word) : "memory"',
        )
        for kind, shape in dict.fromkeys((copy.what, copy.shape) for copy in plan.column_copies())
    ]
    of = f"{'.exclusive' * accumulators.plan.exclusive}.cta_group::{group}"
    columns = accumulators.plan.allocate
    allocate = _function(
        "allocate(uint32_t to)",
        f'"tcgen05.alloc{of}.sync.aligned.shared::cta.b32 [%0], {columns};" ::"r"(to) : "memory"',
        f'"tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned;" ::: "memory"',
    )
    deallocate = _function(
        "deallocate(uint32_t tmem)",
        f'"tcgen05.dealloc{of}.sync.aligned.b32 %0, {columns};" ::"r"(tmem) : "memory"',
    )
    return "\n".join([_multiply(plan), *parts, _load(accumulators), allocate, deallocate])


def _function(head: str, *statements: str) -> str:
    body = "".join(f"  asm volatile({statement});\n" for statement in statements)
    return f"__device__ __forceinline__ void {head} {{\n{body}}}\n"


def _multiply(plan: BlackwellPlan) -> str:
    """Return the function of the instruction; ``more`` is 0 to overwrite the accumulator."""
    more = ["e"] * (plan.metadata is not None) + ["sfa", "sfb"] * (plan.scales is not None)
    names = ["%d_tmem", "%a_desc", "%b_desc", "%idesc", *(f"%{name}_tmem" for name in more)]
    line = plan.ptx.replace("%p", "p")
    for number, name in enumerate(names):
        line = line.replace(name, f"%{number}")
    parameters = ", ".join(["uint32_t d, uint64_t a, uint64_t b, uint32_t idesc", *(f"uint32_t {x}" for x in more)])
    inputs = ", ".join(['"r"(d), "l"(a), "l"(b), "r"(idesc)', *(f'"r"({name})' for name in more)])
    return f"""__device__ __forceinline__ void multiply({parameters}, uint32_t more) {{
  asm volatile(
      "{{\\n"
      ".reg .pred p;\\n"
      "setp.ne.b32 p, %{len(names)}, 0;\\n"
      "{line}\\n"
      "}}" ::{inputs}, "r"(more) : "memory");
}}
"""


def _load(accumulators: TensorColumns) -> str:
    count = accumulators.readout.values
    rows = [
        ", ".join(f"%{i}" for i in range(first_value, min(first_value + 16, count)))
        for first_value in range(0, count, 16)
    ]
    outs = [
        ", ".join(f'"=r"(v[{i}])' for i in range(first_value, min(first_value + 8, count)))
        for first_value in range(0, count, 8)
    ]
    text = ',"\n      "'.join(rows)
    outputs = ",\n        ".join(outs)
    return f"""__device__ __forceinline__ void load(uint32_t (&v)[{count}], uint32_t from) {{
  asm volatile(
      "{accumulators.readout.move.ptx} {{{text}}}, [%{count}];\\n"
      "tcgen05.wait::ld.sync.aligned;"
      : {outputs}
      : "r"(from)
      : "memory");
}}
"""


def element_steps(read: Readout) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """Return the steps of (m, n) from one thread, one value and one warp to the next.

    Args:
        read: a readout of the shape ``32x32b``, for which these steps are constant.

    >>> from descriptors.tmem.accumulator import accumulator
    >>> from descriptors.tmem.readout import readout
    >>> element_steps(readout(accumulator(64, 32), "32x32b"))
    ((1, 0), (0, 1), (16, 0))
    """
    loads = {load.warp: load for load in reversed(read.loads)}
    begin = read.element(loads[0], 0, 0)

    def step(to: tuple[int, int]) -> tuple[int, int]:
        return to[0] - begin[0], to[1] - begin[1]

    value = step(read.element(loads[0], 0, 1)) if read.values > 1 else (0, 0)
    return step(read.element(loads[0], 1, 0)), value, step(read.element(loads[1], 0, 0))


def stores(plan: BlackwellPlan) -> Iterator[str]:
    """Yield the lines that store a tile: each load, then the stores of its registers.

    With two sets of accumulators, a warp frees its set when it is read, before it is stored.

    Args:
        plan: a plan of ``tcgen05.mma``.

    >>> from descriptors.gemm.planner import plan
    >>> example = plan("m64n16k16", "bf16", tile=(64, 16, 64), stages=2, arch="sm100", verify=False)
    >>> [line.strip() for line in stores(example) if "row" in line][0]
    'const uint32_t row = tile_m * TILE_M + rank * 64 + lane * 1 + warp * 16, column = tile_n * TILE_N;'
    """
    accumulators, loop = plan.accumulators, plan.asked
    read, staged = accumulators.readout, plan.epilogue.staged is not None
    thread, _, warp = element_steps(read)
    # In a pair with M 128, warps 2 and 3 have the second half of N, so only two warps are along M.
    number = "warp % 2" if (loop.extents[0], loop.cta_group) == (128, 2) else "warp"
    terms = [f"tile_m * TILE_M + rank * {loop.tile[0] // loop.cta_group}"]
    terms += [] if staged else [f"lane * {thread[0]}"]  # the rows of a piece are those of the lanes
    terms += [f"{number} * {warp[0]}"] if warp[0] else []
    head = [
        f"    const uint32_t row = {' + '.join(terms)}, column = tile_n * TILE_N;",
        f"    uint32_t v[{read.values}];",
    ]
    loads = [[_stored(plan, *one) for one in accumulators.reads(i)[0]] for i in range(accumulators.sets)]
    if accumulators.sets > 1:
        yield from _stored_in_turn(accumulators, head, loads)
    else:
        yield from head
        yield from (line for load in loads[0] for line in load)


def _stored_in_turn(accumulators: TensorColumns, head: Iterable[str], loads: list[list[list[str]]]) -> Iterator[str]:
    """Yield the lines of each set; if the sets share columns, a set is freed when the shared columns are read."""
    free = "set_free(free, lane);"
    yield from (f"  {line}" for line in head)
    if not accumulators.shared:
        *most, (last, *rest) = loads[0]
        yield from (f"  {line}" for load in most for line in load)
        yield from (f"  {last}", f"      {free}", *(f"  {line}" for line in rest))
        return
    for number, branch in enumerate(("if (turn % 2 == 0) {", "} else {")):
        first = accumulators.reads(number)[1]
        yield f"      {branch}"
        for index, (load, *rest) in enumerate(loads[number]):
            yield f"    {load}"
            if index == first - 1:
                yield f"        {free}  // the columns that both sets have are read"
            yield from (f"    {line}" for line in rest)
    yield "      }"


def _stored(plan: BlackwellPlan, index: int, load: Load) -> list[str]:
    """Return the lines for a load of an accumulator and the stores of its registers."""
    accumulators, loop, epilogue = plan.accumulators, plan.asked, plan.epilogue
    read, rows = accumulators.readout, loop.extents[0] // loop.cta_group
    across = read.element(next(candidate for candidate in read.loads if candidate.warp == 2), 0, 0)[1]
    i, j, origin = index % loop.blocks[0], index // loop.blocks[0], read.element(load, 0, 0)
    down = f"row + {i * rows + origin[0]}"
    right = f"column + {j * loop.extents[1] + origin[1]}" + (f" + warp / 2 * {across}" if across else "")
    place, parts = "set" if accumulators.sets > 1 else "tmem + (warp << 21)", epilogue.splits > 1
    lines = [f"    load(v, {place} + {(load.lane << 16) + accumulators.firsts[index] + load.column});"]
    if epilogue.terms and not parts:
        guard = f"if (lane < {read.threads}) " if read.threads < _LANES else ""
        lane = " + lane" if epilogue.staged is not None else ""
        lines.append(f"    {guard}finish(v, {down}{lane}, {right}, terms);")
    if epilogue.staged is not None:
        return [*lines, f"    store_rows(v, pieces, slot, &map_c, {down}, {right}{', part' * parts});"]
    assert element_steps(read)[1] == (0, 1)
    inside = [*([f"lane < {read.threads}"] if read.threads < _LANES else []), f"{down} < rows"]  # tiles end beyond C
    expression = {"f32": "__uint_as_float(v[i])", "s32": "static_cast<int32_t>(v[i])"}.get(
        loop.d, "__ushort_as_half(static_cast<uint16_t>(v[i]))"
    )
    return [
        *lines,
        f"    if ({' && '.join(inside)})",
        f"      for (uint32_t i = 0; i < {read.values}; ++i)",
        f"        if ({right} + i < columns)",
        f"          c[static_cast<size_t>({down}) * columns + {right} + i] = {expression};",
    ]
