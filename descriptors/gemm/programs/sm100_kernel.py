"""The whole kernel of a plan of sm100 in CUDA C++, with a host program that checks it: assembled, never run.

Six warps: four read the accumulators, each its own lanes, one fills the stages, one multiplies. Of a pair of CTAs each
fills its own shared memory, and the leader multiplies for both; all bytes of a stage count at the leader's barrier.

Law: the kernel forms every word of the plan, from the words of the first stage and the steps.

>>> from descriptors.gemm.planner import plan
>>> made = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False)
>>> text = kernel(made, "gemm")
>>> "assembled, never run" in text.splitlines()[0], text.count("multiply(tmem + ")
(True, 4)
"""

from __future__ import annotations

from collections.abc import Iterator
from string import Template

from descriptors.errors import DescriptorError, brief
from descriptors.gemm.accumulators import TensorColumns
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs.inner_loop_ptx import barriers
from descriptors.gemm.programs.sm100_device import common, instructions, stores
from descriptors.gemm.programs.sm100_host import host
from descriptors.text import word_text

_HEAD = Template("""\
// $title; assembled, never run.
// nvcc -std=c++17 -gencode arch=compute_100a,code=sm_100a -o $name $name.cu
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr uint32_t kTileM = $tile_m, kTileN = $tile_n, kTileK = $tile_k, kStages = $stages, kPair = $pair;
constexpr uint32_t kBytes = $bytes;  // of a stage of one CTA, all of which its copies bring
constexpr uint32_t kFull = $full, kEmpty = $empty, kDone = $done, kTmem = $done + 8, kSmem = $smem;
constexpr uint32_t kThreads = 192;

""")

_KERNEL = Template("""\
__global__ void __launch_bounds__(kThreads)$cluster $name(
    const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,$maps
    $type* d, uint32_t columns, uint32_t k_tiles) {
  extern __shared__ __align__(1024) uint8_t memory[];
  const uint32_t smem = shared_address(memory), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint32_t rank = blockIdx.x % kPair, tile_m = blockIdx.x / kPair, tile_n = blockIdx.y;
  if (smem % 1024) __trap();  // the words count on it
  if (threadIdx.x == 0) {
    for (uint32_t s = 0; s < kStages; ++s) {
      barrier_init(smem + kFull + 8 * s, 1);
      barrier_init(smem + kEmpty + 8 * s, 1);
    }
    barrier_init(smem + kDone, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  if (warp == 5) allocate(smem + kTmem);
  together();
  uint32_t tmem;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(tmem) : "r"(smem + kTmem));

  if (warp == 4 && lane == 0) {
    for (uint32_t t = 0, s = 0, phase = 0; t < k_tiles; ++t) {
      barrier_wait(smem + kEmpty + 8 * s, phase ^ 1);
      const uint32_t full = $leader;
      if (rank == 0) barrier_expect(full, kPair * kBytes);
$copies
      if (++s == kStages) s = 0, phase ^= 1;
    }
  } else if (warp == 5 && lane == 0 && rank == 0) {
    for (uint32_t t = 0, s = 0, phase = 0; t < k_tiles; ++t) {
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
$stores
  }
  __syncwarp();
  together();
  if (warp == 5) deallocate(tmem);
}

}  // namespace

""")


def kernel(made: Plan, name: str) -> str:
    """The text: device functions, kernel, host program.

    Args:
        made: a plan of sm100.
        name: of the kernel.

    Raises:
        DescriptorError: if the name is no identifier, or a tensor map has more than two dimensions.

    >>> from descriptors.gemm.planner import plan
    >>> kernel(plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False), "2")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: emit: name must be an identifier of at most 64 letters and digits, found '2'
    """
    if not isinstance(name, str) or not (name.isascii() and name.isidentifier()) or len(name) > 64:
        raise DescriptorError(f"emit: name must be an identifier of at most 64 letters and digits, found {brief(name)}")
    for side in (made.a, made.b):
        if len(side.tma.dimensions) != 2:
            found = f"{len(side.tma.dimensions)}; {side.matrix}, swizzle {side.derivation.swizzle}"
            raise DescriptorError(f"emit: a tensor map must have two dimensions for a kernel, found {found}")
    one = made.asked
    full, empty, done = barriers(made)
    pair = one.cta_group == 2
    head = _HEAD.substitute(
        title=made.headline, name=name, tile_m=one.tile[0], tile_n=one.tile[1], tile_k=one.tile[2],
        stages=made.stages, pair=one.cta_group, bytes=made.transaction_bytes, full=full, empty=empty, done=done,
        smem=done + 16,
    )  # fmt: skip
    maps = "\n    const __grid_constant__ CUtensorMap map_sfa, const __grid_constant__ CUtensorMap map_sfb,"
    body = _KERNEL.substitute(
        name=name,
        cluster=" __cluster_dims__(kPair, 1, 1)" if pair else "",
        maps=maps if made.scales is not None else "",
        type={"f32": "float", "s32": "int32_t", "f16": "__half"}[one.d],
        # The leader's barrier has the same address but for the bit that tells the CTAs of a pair apart.
        leader="(smem + kFull + 8 * s) & 0xfeffffffu" if pair else "smem + kFull + 8 * s",
        copies="\n".join(_copies(made)),
        stage="\n".join(_stage(made)),
        stores="\n".join(stores(made)),
    )
    half = "#include <cuda_fp16.h>\n" if one.d == "f16" else ""
    head = head.replace("#include <cuda_runtime.h>\n", "#include <cuda_runtime.h>\n" + half)
    return "\n".join([head + common(made), instructions(made), body + host(made, name)])


def _copies(made: Plan) -> Iterator[str]:
    """The boxes of a stage; a CTA of a pair has its half of the rows of A, and of the rows of B in every N block."""
    for side, tile in ((made.a, "tile_m * kTileM"), (made.b, "tile_n * kTileN")):
        low = side.matrix.lower()
        yield f"      const uint32_t {low}_row = {tile} + rank * {side.run};"
        yield f"      const uint32_t {low}_to = smem + {side.base} + s * {side.stage_bytes};"
        for box in side.boxes:
            at = []
            for dimension, position in zip(side.tma.dimensions, side.coordinates(box), strict=True):
                begin = "t * kTileK" if dimension.mode else f"{low}_row"
                at.append(f"{begin} + {position}")
            yield f"      copy_box({low}_to + {box.offset_bytes}, &map_{low}, {', '.join(at)}, full);"
    if made.scales is not None:
        one = made.scales
        blocks = ("((tile_m * kPair + rank) * k_tiles + t)", "(tile_n * k_tiles + t)")
        for low, factors, base, block in zip(("sfa", "sfb"), (one.a, one.b), one.bases, blocks, strict=True):
            rows, to = factors.bytes // FACTOR_ROW, f"smem + {base} + s * {factors.bytes}"
            yield f"      copy_box({to}, &map_{low}, 0, {block} * {rows}, full);"


#: Bytes of a row of the tensor that holds scale factors; a stage of one operand is so many rows.
FACTOR_ROW = 128


def _stage(made: Plan) -> Iterator[str]:
    """The instructions of a stage, every one by itself, with its own numbers."""
    held, one = made.accumulators, made.asked
    assert isinstance(held, TensorColumns)
    for side in (made.a, made.b):
        step = side.stage_bytes // 16
        assert side.stage_steps == tuple(step * s for s in range(made.stages))
        yield f"      const uint64_t {side.matrix.lower()} = placed({word_text(side.word)}ull, smem, s * {step});"
    if made.scales is not None:
        names = [(n, f.bytes // 16) for n, f in (("a", made.scales.a), ("b", made.scales.b)) for _ in f.steps]
        for (name, step), (word, column) in zip(names, made.scales.copies(), strict=True):
            moved = f"placed({word_text(word)}ull, smem, s * {step})"
            yield f"      copy_factors_{name}(tmem + {column}, {moved});"
    for k in range(one.blocks[2]):
        for j, down in enumerate(made.b.mn_steps):
            for i, across in enumerate(made.a.mn_steps):
                words = f"a + {across + made.a.k_steps[k]}, b + {down + made.b.k_steps[k]}"
                idesc = f"{word_text(made.line.idescs[k], 32)}u"
                more = "t" if k == 0 else "1"
                factors = _factors(made, (i, j), k)
                first = held.firsts[j * len(made.a.mn_steps) + i]
                yield f"      multiply(tmem + {first}, {words}, {idesc}{factors}, {more});"


def _factors(made: Plan, blocks: tuple[int, int], k: int) -> str:
    """The pointers to the factors of an M block and an N block, as arguments; none of a kind without."""
    if made.scales is None:
        return ""
    pointers = [made.scales.pointer_at(index, block, k) for index, block in enumerate(blocks)]
    return "".join(f", tmem + {word_text(pointer, 32)}u" for pointer in pointers)
