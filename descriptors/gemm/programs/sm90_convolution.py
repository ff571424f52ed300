"""The parts of a program for sm90 that a convolution changes: what a step is, its copies, its tensor maps, its check.

The extents are arguments of the program; taps, strides, dilations and padding are the plan's.

Law: of a plain product nothing of it is in the text.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n8k16", "bf16", tile=(64, 8, 64), verify=False)
>>> [name for name, text in texts(example).items() if "shape" in text or "TAPS" in text]
[]
"""

from __future__ import annotations

from descriptors.gemm.implicit_gemm import ImplicitGemm
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.programs import cluster


def texts(plan: Plan) -> dict[str, str]:
    """What stands at each place of the template.

    Args:
        plan: a plan for sm90.
    """
    if plan.implicit is None:
        return _OF_PRODUCT
    one, around = plan.implicit.convolution, plan.asked.cluster
    return {
        "sizes": "N H W C K",
        "of_convolution": ", const Convolution shape",
        "convolution": ", shape",
        "all_steps": "TAPS * ((k + TILE_K - 1) / TILE_K)",
        "extents": "const Convolution& shape",
        "of_extents": "const int M = shape.pixels(), N = shape.filters, K = shape.channels;\n  ",
        "a_extents": "shape",
        "b_extents": "shape",
        "a_memory": "A are the activations, N H W C in memory; a\n"
        "// row of the product is an output pixel, in the order of N P Q, and C is therefore N P Q K.",
        "b_memory": "B are the filters, K R S C in memory.",
        "copy_box": cluster.copy_functions(_PIXELS + "\n" + _FILTERS, around).removesuffix("\n"),
        "copies": "\n".join([_STEP, *(_boxes(plan, side) for side in (plan.a, plan.b))]),
        "images": str(one.images),
        "height": str(one.height),
        "width": str(one.width),
        "channels": str(one.channels),
        "filters": str(one.filters),
    }


_OF_PRODUCT = {
    "sizes": "M N K",
    "of_convolution": "",
    "convolution": "",
    "all_steps": "(k + TILE_K - 1) / TILE_K",
    "extents": "int M, int N, int K",
    "of_extents": "",
    "a_extents": "M, K",
    "b_extents": "N, K",
}


def constants(plan: Plan) -> list[str]:
    """What the plan says of the taps; nothing of a plain product."""
    if plan.implicit is None:
        return []
    one = plan.implicit.convolution
    pairs = [("TAPS", one.taps), ("STRIDE", one.stride), ("DILATION", one.dilation), ("PADDING", one.padding)]
    numbers = [f"constexpr int {name}_H = {h}, {name}_W = {w};" for name, (h, w) in pairs]
    return ["", *numbers, "constexpr int TAPS = TAPS_H * TAPS_W;", "", _EXTENTS]


_EXTENTS = """\
// The extents of activations and filters, and with them of the output.
struct Convolution {
  int images, height, width, channels, filters;
  __host__ __device__ int p() const { return outputs(height + 2 * PADDING_H - DILATION_H * (TAPS_H - 1), STRIDE_H); }
  __host__ __device__ int q() const { return outputs(width + 2 * PADDING_W - DILATION_W * (TAPS_W - 1), STRIDE_W); }
  __host__ __device__ int pixels() const { return images * p() * q(); }
  __host__ __device__ static int outputs(int room, int stride) { return (room + stride - 1) / stride; }
};"""

_STEP = """\
      // A step is a tap and as many channels as a stage has of K.
      const int blocks = steps / TAPS, tap = step / blocks, channel = step % blocks * TILE_K;"""

_PIXELS = """\
// So many output pixels from one on, as a tap sees them: zeros where that is outside of the activations.
__device__ __forceinline__ void copy_pixels(uint32_t to, const CUtensorMap* map, int channel, int pixel, int tap,
                                            const Convolution& shape, uint32_t barrier$parameter) {
  const int q = shape.q(), p = shape.p();
  const int w = pixel % q * STRIDE_W - PADDING_W, h = pixel / q % p * STRIDE_H - PADDING_H, n = pixel / q / p;
  const uint16_t right = tap % TAPS_W * DILATION_W, down = tap / TAPS_W * DILATION_H;
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes$multicast "
      "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8}$mask_9;" ::"r"(to),
      "l"(map), "r"(channel), "r"(w), "r"(h), "r"(n), "r"(barrier), "h"(right),
      "h"(down)$input
      : "memory");
}
"""
_FILTERS = """\
// Filters from one on, at a tap.
__device__ __forceinline__ void copy_filters(uint32_t to, const CUtensorMap* map, int channel, int filter, int tap,
                                             uint32_t barrier$parameter) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes$multicast "
      "[%0], [%1, {%2, %3, %4}], [%5]$mask_6;" ::"r"(to),
      "l"(map), "r"(channel), "r"(tap), "r"(filter), "r"(barrier)$input
      : "memory");
}
"""


def _boxes(plan: Plan, side: StagedOperand) -> str:
    low, pixels = side.matrix.lower(), side.matrix == "A"
    mn = f"{'row * TILE_M' if pixels else 'column * TILE_N'} + {low}_box_mn(box)"
    to = f"base + {side.matrix}_BASE + stage * {side.matrix}_STAGE_BYTES + {low}_box_at(box)"
    rest = "tap, shape" if pixels else "tap"
    call = f"        copy_{'pixels' if pixels else 'filters'}("
    body = f"{call}{to}, map_{low},\n{' ' * len(call)}channel + {low}_box_k(box), {mn}, {rest}, $full);\n"
    return cluster.box_loop(side.matrix, body, plan.asked.cluster)


def maps(plan: Plan, implicit: ImplicitGemm) -> str:
    """The host functions that encode the tensor maps of activations and filters.

    Args:
        plan: the plan.
        implicit: its maps.
    """
    a, b = plan.a.tma, plan.b.tma
    return f"""\
inline PFN_cuTensorMapEncodeIm2col_v12000 im2col_encoder() {{
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &found, 12000, cudaEnableDefault, &result),
        "driver");
#else
  check(cudaGetDriverEntryPoint("cuTensorMapEncodeIm2col", &found, cudaEnableDefault, &result), "driver");
#endif
  if (result != cudaDriverEntryPointSuccess) {{
    std::fprintf(stderr, "the driver must have cuTensorMapEncodeIm2col, found none\\n");
    std::exit(2);
  }}
  return reinterpret_cast<PFN_cuTensorMapEncodeIm2col_v12000>(found);
}}

inline CUtensorMap encoded(CUresult result, const CUtensorMap& map, const char* what) {{
  if (result == CUDA_SUCCESS) return map;
  std::fprintf(stderr, "%s: error %d\\n", what, static_cast<int>(result));
  std::exit(2);
}}

// The corners of the bounding box have a place in it for each output pixel.
inline CUtensorMap tensor_map_a(const void* A, const Convolution& shape) {{
  const cuuint64_t N = shape.images, H = shape.height, W = shape.width, C = shape.channels;
  const cuuint64_t extents[] = {{C, W, H, N}};
  const cuuint64_t strides[] = {{C * sizeof(TypeA), W * C * sizeof(TypeA), H * W * C * sizeof(TypeA)}};
  const int lower[] = {{-PADDING_W, -PADDING_H}};
  const int upper[] = {{PADDING_W - DILATION_W * (TAPS_W - 1), PADDING_H - DILATION_H * (TAPS_H - 1)}};
  const cuuint32_t steps[] = {{1, STRIDE_W, STRIDE_H, 1}};
  CUtensorMap made;
  return encoded(im2col_encoder()(&made, {a.data_type_name}, 4, const_cast<void*>(A), extents, strides,
                                  lower, upper, {a.box[0]}, {a.box[1]}, steps, {a.interleave_name},
                                  {a.swizzle_name}, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                 made, "cuTensorMapEncodeIm2col");
}}

// Channels beyond C are zero, and belong to no other tap.
inline CUtensorMap tensor_map_b(const void* B, const Convolution& shape) {{
  const cuuint64_t C = shape.channels, K = shape.filters;
  const cuuint64_t extents[] = {{C, TAPS, K}}, strides[] = {{C * sizeof(TypeB), TAPS * C * sizeof(TypeB)}};
  const cuuint32_t box[] = {{{b.box[0]}, 1, {b.box[1]}}}, steps[] = {{1, 1, 1}};
  CUtensorMap made;
  return encoded(encoder()(&made, {b.data_type_name}, 3, const_cast<void*>(B), extents, strides, box, steps,
                           {b.interleave_name}, {b.swizzle_name},
                           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                 made, "cuTensorMapEncodeTiled");
}}
"""
