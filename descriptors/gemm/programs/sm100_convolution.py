"""The parts of a kernel of sm100 that a convolution changes: its copies, which outputs there are, its host program.

All extents are constants. Assembled, never run.

Law: every step of the main loop has the copies that the plan names, and of a plain product nothing of it is there.

>>> from descriptors.gemm.planner import plan
>>> made = plan("m128n64k16", "bf16", tile=(128, 64, 128), stages=2, verify=False,
...             convolution={"activations": (1, 9, 9, 72), "filters": (40, 3, 3), "padding": 1})
>>> [line.split("(")[0].strip() for line in copies(made) if "copy_" in line]
['copy_pixels', 'copy_pixels', 'copy_filters', 'copy_filters']
>>> constants(plan("m128n64k16", "bf16", tile=(128, 64, 64), verify=False))
''
"""

from __future__ import annotations

from collections.abc import Iterator
from string import Template

from descriptors.gemm.accumulators import TensorColumns
from descriptors.gemm.implicit_gemm import ImplicitGemm
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs import sm100_store, sm100_turns
from descriptors.gemm.programs.sm100_host import COMMON, ON_DEVICE, TENSOR_MAP, code_of
from descriptors.smem.instructions.rules import type_name


def constants(plan: Plan) -> str:
    """The extents of a convolution, as constants; "" of a plain product."""
    if plan.implicit is None:
        return ""
    one = plan.implicit.convolution
    pairs = [
        (("kImages", one.images), ("kHeight", one.height), ("kWidth", one.width), ("kChannels", one.channels)),
        (("kFilters", one.filters), ("kTapsH", one.taps[0]), ("kTapsW", one.taps[1])),
        (("kStrideH", one.stride[0]), ("kStrideW", one.stride[1]), ("kDilationH", one.dilation[0])),
        (("kDilationW", one.dilation[1]), ("kPaddingH", one.padding[0]), ("kPaddingW", one.padding[1])),
        (("kP", one.outputs[0]), ("kQ", one.outputs[1]), ("kPixels", one.pixels)),
        (("kBlocks", plan.implicit.blocks), ("kSteps", plan.implicit.steps)),
    ]
    lines = [f"constexpr int {', '.join(f'{name} = {value}' for name, value in row)};" for row in pairs]
    return "\n".join(["// A convolution: activations N H W C, filters K R S C, outputs N P Q K.", *lines, "", ""])


def functions(pair: bool) -> str:
    """The functions that copy pixels and filters.

    Args:
        pair: whether two CTAs work on one instruction.
    """
    return _FUNCTIONS.replace("$group", ".cta_group::2" if pair else "")


_FUNCTIONS = """\
// So many output pixels from one on, as a tap sees them: zeros where that is outside of the activations.
__device__ __forceinline__ void copy_pixels(
    uint32_t to, const CUtensorMap* map, int32_t channel, int32_t pixel, int32_t tap, uint32_t barrier) {
  const int32_t w = pixel % kQ * kStrideW - kPaddingW, h = pixel / kQ % kP * kStrideH - kPaddingH, n = pixel / kQ / kP;
  const uint16_t right = tap % kTapsW * kDilationW, down = tap / kTapsW * kDilationH;
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes$group "
      "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
      ::"r"(to), "l"(map), "r"(channel), "r"(w), "r"(h), "r"(n), "r"(barrier), "h"(right), "h"(down) : "memory");
}

// Filters from one on, at a tap.
__device__ __forceinline__ void copy_filters(
    uint32_t to, const CUtensorMap* map, int32_t channel, int32_t filter, int32_t tap, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes$group "
      "[%0], [%1, {%2, %3, %4}], [%5];"
      ::"r"(to), "l"(map), "r"(channel), "r"(tap), "r"(filter), "r"(barrier) : "memory");
}
"""


def copies(plan: Plan) -> Iterator[str]:
    """The copies of a step.

    Args:
        plan: a plan of sm100.
    """
    yield "      const uint32_t tap = t / kBlocks, channel = t % kBlocks * kTileK;"
    for side, tile, what in ((plan.a, "tile_m * kTileM", "pixels"), (plan.b, "tile_n * kTileN", "filters")):
        low = side.matrix.lower()
        yield f"      const uint32_t {low}_row = {tile} + rank * {side.run};"
        yield f"      const uint32_t {low}_to = smem + {side.base} + s * {side.stage_bytes};"
        for box in side.boxes:
            at = f"channel + {box.origin[1]}, {low}_row + {side.first_row(box)}, tap"
            yield f"      copy_{what}({low}_to + {box.offset_bytes}, &map_{low}, {at}, full);"


def host(plan: Plan, implicit: ImplicitGemm, name: str) -> str:
    """The text of the host program.

    Args:
        plan: a plan of sm100.
        implicit: its copies.
        name: of the kernel.
    """
    loop, a, held = plan.asked, implicit.a, plan.accumulators
    turns = isinstance(held, TensorColumns) and held.sets > 1
    low, high = sm100_store.numbers(plan)
    extents = sm100_store.extents(plan, "kPixels", "kFilters")
    codes = [", ".join(hex(code_of(type_name(one), value)) for value in range(low, 4)) for one in (loop.a, loop.b)]
    return COMMON + TENSOR_MAP + ON_DEVICE + _MAIN.substitute(
        low=low, count=high - low + 1, name=name, a_codes=codes[0], b_codes=codes[1], a_bits=loop.a.bits,
        b_bits=loop.b.bits,
        a_type=plan.a.tma.data_type_name, b_type=plan.b.tma.data_type_name, a_swizzle=plan.a.tma.swizzle_name,
        b_swizzle=plan.b.tma.swizzle_name, channels=plan.a.tma.box[0], pixels=plan.a.tma.box[1],
        box=f"{plan.b.tma.box[0]}, 1, {plan.b.tma.box[1]}", steps=", ".join(map(str, a.element_strides)),
        sum="int64_t" if loop.d == "s32" else "float", result=sm100_store.result(plan, "kPixels", "kFilters"),
        c=sm100_store.given(plan), added=sm100_store.added(plan),
        wanted=sm100_store.wanted(plan, "at / kFilters", "at % kFilters", "at"),
        tiles=f"{sm100_turns.RUNNING} * kPair" if turns else f"{_TILES}{', kSplits' * sm100_store.in_parts(plan)}",
        extents="kPixels, kFilters, kSteps * kTileK" if turns else f"{extents}kSteps",
    )  # fmt: skip


_TILES = "(kPixels + kTileM - 1) / kTileM * kPair, (kFilters + kTileN - 1) / kTileN"
_MAIN = Template("""\
using EncodeIm2col = CUresult (*)(
    CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const int*, const int*,
    cuuint32_t, cuuint32_t, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
    CUtensorMapFloatOOBfill);

// The corners of the bounding box have a place in it for each output pixel.
static CUtensorMap map_of_activations(void* data) {
  const cuuint64_t extents[] = {kChannels, kWidth, kHeight, kImages}, pixel = size_t{kChannels} * $a_bits / 8;
  const cuuint64_t strides[] = {pixel, pixel * kWidth, pixel * kWidth * kHeight};
  const int lower[] = {-kPaddingW, -kPaddingH};
  const int upper[] = {kPaddingW - kDilationW * (kTapsW - 1), kPaddingH - kDilationH * (kTapsH - 1)};
  const cuuint32_t steps[] = {$steps};
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &entry, 12000, cudaEnableDefault, &found), "driver");
  CUtensorMap map;
  const CUresult status = reinterpret_cast<EncodeIm2col>(entry)(
      &map, $a_type, 4, data, extents, strides, lower, upper, $channels, $pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      $a_swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status == CUDA_SUCCESS) return map;
  std::fprintf(stderr, "cuTensorMapEncodeIm2col: %d\\n", static_cast<int>(status));
  std::exit(1);
}

int main() {
  std::vector<int> a(size_t{kImages} * kHeight * kWidth * kChannels), b(size_t{kFilters} * kTapsH * kTapsW * kChannels);
  uint32_t state = 1;
  for (auto* tensor : {&a, &b})
    for (int& one : *tensor) one = $low + static_cast<int>(next(state) % $count);
  const uint32_t a_codes[] = {$a_codes};
  const uint32_t b_codes[] = {$b_codes};
  std::vector<uint8_t> a_bytes(a.size() * $a_bits / 8), b_bytes(b.size() * $b_bits / 8);
  for (size_t i = 0; i < a.size(); ++i) put(a_bytes, i * $a_bits, $a_bits, a_codes[a[i] - ($low)]);
  for (size_t i = 0; i < b.size(); ++i) put(b_bytes, i * $b_bits, $b_bits, b_codes[b[i] - ($low)]);
  // Channels beyond the last are zero, and belong to no other tap.
  const size_t tap = size_t{kChannels} * $b_bits / 8;
  const CUtensorMap map_a = map_of_activations(on_device(a_bytes)), map_b = tensor_map(
      on_device(b_bytes), $b_type, {kChannels, kTapsH * kTapsW, kFilters}, {tap, tap * kTapsH * kTapsW}, {$box},
      $b_swizzle);
$result
  check(cudaFuncSetAttribute($name, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem), "shared memory");
  const dim3 tiles($tiles);
  $name<<<tiles, kThreads, kSmem>>>(map_a, map_b, $c$extents);
$added  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "kernel");
  check(cudaMemcpy(found.data(), c, sizeof(*c) * found.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  size_t wrong = 0;
  for (size_t at = 0; at < found.size(); ++at) {
    const int k = at % kFilters, q = at / kFilters % kQ, p = at / kFilters / kQ % kP;
    const size_t n = at / kFilters / kQ / kP;
    $sum sum = 0;
    for (int tap = 0; tap < kTapsH * kTapsW; ++tap) {
      const int h = p * kStrideH - kPaddingH + tap / kTapsW * kDilationH;
      const int w = q * kStrideW - kPaddingW + tap % kTapsW * kDilationW;
      if (h < 0 || h >= kHeight || w < 0 || w >= kWidth) continue;
      const int* pixel = &a[((n * kHeight + h) * kWidth + w) * kChannels];
      const int* filter = &b[(size_t{kTapsH * kTapsW} * k + tap) * kChannels];
      for (int channel = 0; channel < kChannels; ++channel)
        sum += static_cast<$sum>(pixel[channel] * filter[channel]);
    }
$wanted    if (got != sum && wrong++ < 4)
      std::printf("O(%zu,%d,%d,%d) must be %g, found %g\\n", n, p, q, k, double(sum), double(got));
  }
  std::printf("%zu of %zu elements differ\\n", wrong, found.size());
  return wrong != 0;
}
""")
