"""The whole kernel of a plan of sm100 in CUDA C++, with a host program that checks it: assembled, never run.

Six warps: four read the accumulators, each its own lanes, one fills the stages, one multiplies. Of a pair of CTAs each
fills its own shared memory, and the leader multiplies for both; all bytes of a stage count at the leader's barrier.
Around each instruction that CUDA C++ has no name for stands a function of the device.

With two sets of accumulators CTAs take tiles in turn: ``sm100_turns``. C through shared memory, of another type, with
terms, or in parts along K: ``sm100_store``.

Laws: the kernel forms every word of the plan, from the words of the first stage and the steps; every line of PTX of the
plan is in it, its operands as numbers of ``asm``; the sums that its stores hold are the plan's (thread, value) to
element, at every thread and value of every load.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False)
>>> text = kernel(example, "gemm")
>>> text.count("multiply(tmem + ")
4
>>> print(*[line.strip() for line in instructions(example).splitlines() if "tcgen05.mma" in line])
"tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\\n"
>>> element_steps(example.accumulators.readout)
((1, 0), (0, 1), (32, 0))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from string import Template

from descriptors.gemm.accumulators import TensorColumns
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_metadata import COPY, MEMORY_ROW
from descriptors.gemm.program_support import check_cuda
from descriptors.gemm.programs import sm100_convolution, sm100_store, sm100_turns
from descriptors.gemm.programs.inner_loop_ptx import barriers, identifier
from descriptors.gemm.programs.sm100_host import host
from descriptors.targets import architecture
from descriptors.text import word_text
from descriptors.tmem.readout import Load, Readout

_HEAD = Template("""\
// $title.
// nvcc -std=c++17 -gencode arch=compute_${number}a,code=sm_${number}a -o $name $name.cu
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr uint32_t kTileM = $tile_m, kTileN = $tile_n, kTileK = $tile_k, kStages = $stages, kPair = $pair;
constexpr uint32_t kBytes = $bytes;  // of a stage of one CTA, all of which its copies bring
constexpr uint32_t kFull = $full, kEmpty = $empty, kDone = $done, kTmem = $done + $after, kSmem = $smem;
${turns}constexpr uint32_t kThreads = 192;
${result}
""")

_KERNEL = Template("""\
__global__ void __launch_bounds__(kThreads)$cluster $name(
    const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,$maps
    $c$extents) {
  extern __shared__ __align__(1024) uint8_t memory[];
  const uint32_t smem = shared_address(memory), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint32_t rank = blockIdx.x % kPair, $tile;
$part  if (smem % 1024) __trap();  // the words count on it
$enough  if (threadIdx.x == 0) {
    for (uint32_t s = 0; s < kStages; ++s) {
      barrier_init(smem + kFull + 8 * s, 1);
      barrier_init(smem + kEmpty + 8 * s, 1);
    }
$barriers
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  if (warp == 5) allocate(smem + kTmem);
  together();
  uint32_t tmem;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(tmem) : "r"(smem + kTmem));

$roles
  __syncwarp();
  together();
  if (warp == 5) deallocate(tmem);
}

}  // namespace

""")

#: What the warps do where a CTA has one tile.
_ROLES = Template("""\
  if (warp == 4 && lane == 0) {
    for (uint32_t t = $first, s = 0, phase = 0; t < $end; ++t) {
      barrier_wait(smem + kEmpty + 8 * s, phase ^ 1);
      const uint32_t full = $leader;
      if (rank == 0) barrier_expect(full, kPair * kBytes);
$copies
      if (++s == kStages) s = 0, phase ^= 1;
    }
  } else if (warp == 5 && lane == 0 && rank == 0) {
    for (uint32_t t = $first, s = 0, phase = 0; t < $end; ++t) {
      barrier_wait(smem + kFull + 8 * s, phase);
      fence_after();
$stage
      commit(smem + kEmpty + 8 * s);
      if (++s == kStages) s = 0, phase ^= 1;
    }
    commit(smem + kDone);
  } else if (warp < 4) {
    barrier_wait(smem + kDone, 0);
    __syncwarp();
    fence_after();
$before$stores
$after  }""")


#: Which part along K a CTA has, and its steps.
_PART = """\
  const uint32_t part = blockIdx.z, first = k_tiles * part / kSplits, end = k_tiles * (part + 1) / kSplits;
"""


def kernel(plan: Plan, name: str) -> str:
    """The text: device functions, kernel, host program.

    Args:
        plan: a plan of sm100.
        name: of the kernel.

    Raises:
        DescriptorError: if the name is no identifier.

    >>> from descriptors.gemm.planner import plan
    >>> kernel(plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False), "2")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: emit: name must be an identifier of at most 64 letters and digits, found '2'
    """
    identifier(name)
    check_cuda(plan)
    loop, held = plan.asked, plan.accumulators
    assert isinstance(held, TensorColumns)
    full, empty, done = barriers(plan)
    pair, turns, parts = loop.cta_group == 2, held.sets > 1, sm100_store.in_parts(plan)
    after = sm100_turns.BARRIERS if turns else 8
    head = _HEAD.substitute(
        title=plan.headline, number=architecture(loop.arch).number, name=name,
        tile_m=loop.tile[0], tile_n=loop.tile[1], tile_k=loop.tile[2],
        stages=plan.stages, pair=loop.cta_group, bytes=plan.transaction_bytes, full=full, empty=empty, done=done,
        after=after, smem=done + after + 8, turns=sm100_turns.constants(held) + "\n" if turns else "",
        result=sm100_store.constants(plan),
    ) + sm100_convolution.constants(plan)  # fmt: skip
    maps = "\n    const __grid_constant__ CUtensorMap map_sfa, const __grid_constant__ CUtensorMap map_sfb,"
    map_e = "\n    const __grid_constant__ CUtensorMap map_e,"
    stored = "" if plan.epilogue.staged is not None else "uint32_t rows, uint32_t columns, "
    body = _KERNEL.substitute(
        name=name,
        cluster=" __cluster_dims__(kPair, 1, 1)" if pair else "",
        maps=(map_e if plan.metadata is not None else "") + (maps if plan.scales is not None else ""),
        c=sm100_store.parameters(plan),
        extents=sm100_turns.EXTENTS if turns else f"{stored}uint32_t k_tiles",
        tile=sm100_turns.counts(plan) if turns else "tile_m = blockIdx.x / kPair, tile_n = blockIdx.y",
        part=_PART if parts and not turns else "",
        enough="  if (k_tiles < kSplits) __trap();  // each part has a step\n" if parts else "",
        barriers=sm100_turns.beginnings() if turns else "    barrier_init(smem + kDone, 1);",
        roles=(sm100_turns.roles(plan) if turns else _ROLES).substitute(
            # The leader's barrier has the same address but for the bit that tells the CTAs of a pair apart.
            leader="(smem + kFull + 8 * s) & 0xfeffffffu" if pair else "smem + kFull + 8 * s",
            first="first" if parts else "0",
            end="end" if parts else "k_tiles",
            copies=_indented(_copies(plan) if plan.implicit is None else sm100_convolution.copies(plan), turns),
            stage=_indented(_stage(plan), turns),
            before="".join(f"{line}\n" for line in sm100_store.before(plan)),
            stores="\n".join(stores(plan)),
            after="".join(f"{line}\n" for line in sm100_store.after(plan)),
        ),
    )
    head = head.replace("#include <cuda_runtime.h>\n", "#include <cuda_runtime.h>\n" + sm100_store.headers(plan))
    functions = [instructions(plan), *([sm100_turns.release(loop.cta_group)] if turns else [])]
    functions += sm100_store.functions(plan)
    implicit = plan.implicit
    program = host(plan, name) if implicit is None else sm100_convolution.host(plan, implicit, name)
    return "\n".join([head + common(plan), *functions, body + program])


def _indented(lines: Iterable[str], deeper: bool) -> str:
    return "\n".join("  " * deeper + line for line in lines)


def _copies(plan: Plan) -> Iterator[str]:
    """The boxes of a stage; a CTA of a pair has its half of the rows of A, and of the rows of B in every N block."""
    for side, tile in ((plan.a, "tile_m * kTileM"), (plan.b, "tile_n * kTileN")):
        low = side.matrix.lower()
        yield f"      const uint32_t {low}_row = {tile} + rank * {side.run};"
        yield f"      const uint32_t {low}_to = smem + {side.base} + s * {side.stage_bytes};"
        for box in side.boxes:
            at = []
            for dimension, position in zip(side.tma.dimensions, side.coordinates(box), strict=True):
                begin = f"t * {'(kTileK / 2)' if side.sparse else 'kTileK'}" if dimension.mode else f"{low}_row"
                at.append(f"{begin} + {position}")
            yield f"      copy_box({low}_to + {box.offset_bytes}, &map_{low}, {', '.join(at)}, full);"
    if plan.metadata is not None:
        (box_rows, count), of_m = plan.metadata.boxes, plan.metadata.blocks
        for index in range(of_m * count):
            m, i = divmod(index, count)
            down = "(tile_m * kPair + rank)" + (f" * {of_m} + {m}" if of_m > 1 else "")
            to = f"smem + {plan.metadata.base + index * box_rows * MEMORY_ROW} + s * {plan.metadata.bytes}"
            begin = f"(({down}) * k_tiles + t) * {box_rows * count} + {i * box_rows}"
            yield f"      copy_box({to}, &map_e, 0, {begin}, full);"
    if plan.scales is not None:
        one = plan.scales
        blocks = ("((tile_m * kPair + rank) * k_tiles + t)", "(tile_n * k_tiles + t)")
        for low, factors, base, block in zip(("sfa", "sfb"), (one.a, one.b), one.bases, blocks, strict=True):
            rows, to = factors.bytes // FACTOR_ROW, f"smem + {base} + s * {factors.bytes}"
            yield f"      copy_box({to}, &map_{low}, 0, {block} * {rows}, full);"


#: Bytes of a row of the tensor that holds scale factors; a stage of one operand is so many rows.
FACTOR_ROW = 128


def _stage(plan: Plan) -> Iterator[str]:
    """The instructions of a stage, every one by itself, with its own numbers."""
    accumulators, loop = plan.accumulators, plan.asked
    assert isinstance(accumulators, TensorColumns)
    for side in (plan.a, plan.b):
        step = side.stage_bytes // 16
        assert side.stage_steps == tuple(step * s for s in range(plan.stages))
        yield f"      const uint64_t {side.matrix.lower()} = placed({word_text(side.word)}ull, smem, s * {step});"
    if plan.scales is not None:
        names = [(n, f.bytes // 16) for n, f in (("a", plan.scales.a), ("b", plan.scales.b)) for _ in f.steps]
        for (name, step), (word, column) in zip(names, plan.scales.copies(), strict=True):
            moved = f"placed({word_text(word)}ull, smem, s * {step})"
            yield f"      copy_factors_{name}(tmem + {column}, {moved});"
    if plan.metadata is not None:
        for word, column in plan.metadata.copies():
            moved = f"placed({word_text(word)}ull, smem, s * {plan.metadata.bytes // 16})"
            yield f"      copy_metadata(tmem + {column}, {moved});"
    for k in range(loop.blocks[2]):
        for j, down in enumerate(plan.b.mn_steps):
            for i, across in enumerate(plan.a.mn_steps):
                words = f"a + {across + plan.a.k_steps[k]}, b + {down + plan.b.k_steps[k]}"
                idesc = f"{word_text(plan.line.idescs[k], 32)}u"
                more = ("t - first" if sm100_store.in_parts(plan) else "t") if k == 0 else "1"
                factors = _factors(plan, (i, j), k)
                if plan.metadata is not None:
                    factors = f", tmem + {plan.metadata.place(k)[0] + i * plan.metadata.block_columns}{factors}"
                first = accumulators.firsts[j * len(plan.a.mn_steps) + i]
                yield f"      multiply({_set(accumulators)} + {first}, {words}, {idesc}{factors}, {more});"


def _set(held: TensorColumns) -> str:
    """Where the accumulators of a tile begin, in the text."""
    return "set" if held.sets > 1 else "tmem"


def _factors(plan: Plan, blocks: tuple[int, int], k: int) -> str:
    """The pointers to the factors of an M block and an N block, as arguments; none of a kind without."""
    if plan.scales is None:
        return ""
    pointers = [plan.scales.pointer_at(index, block, k) for index, block in enumerate(blocks)]
    return "".join(f", tmem + {word_text(pointer, 32)}u" for pointer in pointers)


#: What every kernel has: barriers, words, copies, commits, allocation.
COMMON = Template("""\
__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void barrier_init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\\n"
      ".reg .pred done;\\n"
      "again:\\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\\n"
      "@!done bra again;\\n"
      "}" ::"r"(barrier), "r"(parity) : "memory");
}

// The word of an operand so many 16-byte units on, wherever the CTA's shared memory begins.
__device__ __forceinline__ uint64_t placed(uint64_t word, uint32_t smem, uint32_t units) {
  return (word & ~0x3fffull) | ((word + (smem >> 4) + units) & 0x3fffull);
}

$copy_box
// Arrives when all tcgen05.mma and tcgen05.cp issued so far are done; it is a fence before the arrival too.
__device__ __forceinline__ void commit(uint32_t barrier) {
$commit
}

__device__ __forceinline__ void fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
__device__ __forceinline__ void fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }

__device__ __forceinline__ void allocate(uint32_t to) {
  asm volatile("tcgen05.alloc$of.sync.aligned.shared::cta.b32 [%0], $columns;" ::"r"(to) : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::$group.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void deallocate(uint32_t tmem) {
  asm volatile("tcgen05.dealloc$of.sync.aligned.b32 %0, $columns;" ::"r"(tmem) : "memory");
}

// All threads of the CTA$pair, with what they did to tensor memory and to barriers.
__device__ __forceinline__ void together() {
  fence_before();
$together
  fence_after();
}
""")

_COPY_BOX = """\
// A box into shared memory; $signals.
__device__ __forceinline__ void copy_box(uint32_t to, const CUtensorMap* map, int32_t x, int32_t y, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes$group "
      "[%0], [%1, {%2, %3}], [%4];"
      ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
}
"""
_COMMIT = """\
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory");"""
_COMMIT_PAIR = """\
  asm volatile(
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
      ::"r"(barrier), "h"(static_cast<uint16_t>(3)) : "memory");"""


def common(plan: Plan) -> str:
    """The functions that depend on the plan in nothing but numbers.

    Args:
        plan: a plan of sm100.

    >>> from descriptors.gemm.planner import plan
    >>> example = plan("m256n64k16", "bf16", tile=(256, 64, 64), cta_group=2, verify=False)
    >>> "tcgen05.alloc.cta_group::2" in common(example)
    True
    """
    accumulators, pair = plan.accumulators, plan.asked.cta_group == 2
    assert isinstance(accumulators, TensorColumns)
    cluster = '  asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory");'
    signals = "the barrier is that of the leader, in either CTA of the pair" if pair else "its bytes go to the barrier"
    box = _COPY_BOX.replace("$signals", signals).replace("$group", ".cta_group::2" if pair else "")
    return COMMON.substitute(
        copy_box=box if plan.implicit is None else sm100_convolution.functions(pair),
        commit=_COMMIT_PAIR if pair else _COMMIT,
        group=plan.asked.cta_group,
        of=f"{'.exclusive' * accumulators.plan.exclusive}.cta_group::{plan.asked.cta_group}",
        columns=accumulators.plan.allocate,
        pair=", and of the other one of the pair" if pair else "",
        together=cluster if pair else "  __syncthreads();",
    )


def instructions(plan: Plan) -> str:
    """The functions around the plan's own instructions: ``multiply``, ``copy_...`` and ``load``.

    Args:
        plan: a plan of sm100.

    >>> from descriptors.gemm.planner import plan
    >>> text = instructions(plan("m128n16k64", "e2m1", tile=(128, 16, 128), kind="mxf4", stages=2, verify=False))
    >>> [line.split("(")[0].split()[-1] for line in text.splitlines() if line.startswith("__device__")]
    ['multiply', 'copy_factors_a', 'copy_factors_b', 'load']
    """
    accumulators = plan.accumulators
    assert isinstance(accumulators, TensorColumns)
    parts = [_multiply(plan)]
    copies = []
    if plan.scales is not None:
        copies += [("factors_a", plan.scales.a.copy), ("factors_b", plan.scales.b.copy)]
    if plan.metadata is not None:
        copies.append(("metadata", COPY))
    for name, copy in copies:
        line = f"tcgen05.cp.cta_group::{plan.asked.cta_group}.{copy} [%0], %1;"
        parts.append(
            f"__device__ __forceinline__ void copy_{name}(uint32_t to, uint64_t word) {{\n"
            f'  asm volatile("{line}" ::"r"(to), "l"(word) : "memory");\n}}\n'
        )
    return "\n".join([*parts, _load(accumulators)])


def _multiply(plan: Plan) -> str:
    """The instruction; ``more`` is 0 where the accumulator begins anew."""
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
    rows = [", ".join(f"%{i}" for i in range(at, min(at + 16, count))) for at in range(0, count, 16)]
    outs = [", ".join(f'"=r"(v[{i}])' for i in range(at, min(at + 8, count))) for at in range(0, count, 8)]
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
    """What (m, n) grows by from a thread to the next, from a value to the next, from a warp to the next.

    Args:
        read: of the shape ``32x32b``, where these are everywhere the same.

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


def stores(plan: Plan) -> Iterator[str]:
    """The lines: one load after the other, each of its registers stored.

    Args:
        plan: a plan of sm100.

    >>> from descriptors.gemm.planner import plan
    >>> example = plan("m64n16k16", "bf16", tile=(64, 16, 64), stages=2, arch="sm100", verify=False)
    >>> [line.strip() for line in stores(example) if "row" in line][0]
    'const uint32_t row = tile_m * kTileM + rank * 64 + lane * 1 + warp * 16, column = tile_n * kTileN;'
    """
    accumulators, loop = plan.accumulators, plan.asked
    assert isinstance(accumulators, TensorColumns)
    read, staged = accumulators.readout, plan.epilogue.staged is not None
    thread, _, warp = element_steps(read)
    # Of the pair with M 128, warps 2 and 3 have the second half of N: two warps lie below one another.
    number = "warp % 2" if (loop.extents[0], loop.cta_group) == (128, 2) else "warp"
    terms = [f"tile_m * kTileM + rank * {loop.tile[0] // loop.cta_group}"]
    terms += [] if staged else [f"lane * {thread[0]}"]  # the rows of a piece are those of the lanes
    terms += [f"{number} * {warp[0]}"] if warp[0] else []
    head = [
        f"    const uint32_t row = {' + '.join(terms)}, column = tile_n * kTileN;",
        f"    uint32_t v[{read.values}];",
    ]
    if accumulators.sets > 1:
        each = [[_stored(plan, *one) for one in accumulators.reads(i)[0]] for i in range(accumulators.sets)]
        yield from sm100_turns.stored(accumulators, head, each)
        return
    yield from head
    for index, load in accumulators.reads(0)[0]:
        yield from _stored(plan, index, load)


def _stored(plan: Plan, index: int, load: Load) -> list[str]:
    """A load of an accumulator, and its registers stored."""
    accumulators, loop = plan.accumulators, plan.asked
    assert isinstance(accumulators, TensorColumns)
    read, rows = accumulators.readout, loop.extents[0] // loop.cta_group
    across = read.element(next(one for one in read.loads if one.warp == 2), 0, 0)[1]
    i, j, origin = index % loop.blocks[0], index // loop.blocks[0], read.element(load, 0, 0)
    down = f"row + {i * rows + origin[0]}"
    right = f"column + {j * loop.extents[1] + origin[1]}" + (f" + warp / 2 * {across}" if across else "")
    place = "set" if accumulators.sets > 1 else "tmem + (warp << 21)"
    lines = [
        f"    load(v, {place} + {(load.lane << 16) + accumulators.firsts[index] + load.column});",
        *sm100_store.stored(plan, down, right),
    ]
    if plan.epilogue.staged is not None:
        return lines
    assert element_steps(read)[1] == (0, 1)
    inside = [*([f"lane < {read.threads}"] if read.threads < 32 else []), f"{down} < rows"]  # tiles may end beyond C
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
