"""The host program of a kernel of sm100: tensors, tensor maps, a launch, and a plain product to compare with.

Matrices are filled with small integers, as the bits of their element types.

Laws: the tensor maps have what the plan gives ``cuTensorMapEncodeTiled``; no two numbers have one code, and -x differs
from x in the sign alone.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False)
>>> [line.split(", ", 1)[1] for line in host(example, "gemm").splitlines() if "CU_TENSOR_MAP_SWIZZLE" in line]
['64, 128, CU_TENSOR_MAP_SWIZZLE_128B);', '64, 16, CU_TENSOR_MAP_SWIZZLE_128B);']
>>> [hex(code_of("bf16", x)) for x in (-1, 0, 1, 3)], [code_of("e2m1", x) for x in (1, 2, 3)]
(['0xbf80', '0x0', '0x3f80', '0x4040'], [2, 4, 5])
"""

from __future__ import annotations

from collections.abc import Iterator
from string import Template

from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.smem.emitters.recipe import Term
from descriptors.smem.instructions.rules import type_name
from descriptors.tmem.scale_factors import ScaleFactors
from layoutalg import Layout, coalesce, flatten, size

#: What every host program begins with.
COMMON = """\
static void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\\n", what, cudaGetErrorString(status));
  std::exit(1);
}

// A row of bits, from the lowest on: elements of 4 and 6 bits lie side by side in global memory.
static void put(std::vector<uint8_t>& bytes, size_t bit, uint32_t width, uint32_t code) {
  for (uint32_t i = 0; i < width; ++i) bytes[(bit + i) / 8] |= static_cast<uint8_t>((code >> i & 1) << (bit + i) % 8);
}

static uint32_t next(uint32_t& state) { return (state = state * 1664525u + 1013904223u) >> 16; }

using Encode = CUresult (*)(
    CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
    const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

"""

#: A tensor on the device.
ON_DEVICE = """\
static void* on_device(const std::vector<uint8_t>& bytes) {
  void* data = nullptr;
  check(cudaMalloc(&data, bytes.size()), "cudaMalloc");
  check(cudaMemcpy(data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  return data;
}

"""

_MAP = """\
static CUtensorMap tensor_map(
    void* data, CUtensorMapDataType type, cuuint64_t inner, cuuint64_t outer, cuuint64_t row_bytes,
    cuuint32_t box_inner, cuuint32_t box_outer, CUtensorMapSwizzle swizzle) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found), "driver");
  CUtensorMap map;
  const cuuint64_t extents[2] = {inner, outer}, strides[1] = {row_bytes};
  const cuuint32_t box[2] = {box_inner, box_outer}, steps[2] = {1, 1};
  const CUresult status = reinterpret_cast<Encode>(entry)(
      &map, type, 2, data, extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: %d\\n", static_cast<int>(status));
    std::exit(1);
  }
  return map;
}

"""

_MAIN = Template("""\
int main() {
  const uint32_t m = 2 * kTileM, n = 2 * kTileN, k_tiles = 2 * kStages + 1, k = k_tiles * kTileK;
  std::vector<int> a(size_t{m} * k), b(size_t{n} * k);
  uint32_t state = 1;
  for (auto* matrix : {&a, &b})
    for (int& one : *matrix) one = $low + static_cast<int>(next(state) % $count);
$tensors
  $type* d = nullptr;
  check(cudaMalloc(&d, sizeof(*d) * m * n), "cudaMalloc");
  check(cudaMemset(d, 0xff, sizeof(*d) * m * n), "cudaMemset");
  check(cudaFuncSetAttribute($name, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem), "shared memory");
  $name<<<dim3(m / kTileM * kPair, n / kTileN), kThreads, kSmem>>>(map_a, map_b,$maps d, n, k_tiles);
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "kernel");
  std::vector<$type> found(size_t{m} * n);
  check(cudaMemcpy(found.data(), d, sizeof(*d) * m * n, cudaMemcpyDeviceToHost), "cudaMemcpy");
  size_t wrong = 0;
  for (uint32_t i = 0; i < m; ++i)
    for (uint32_t j = 0; j < n; ++j) {
      $sum sum = 0;
      for (uint32_t q = 0; q < k; ++q) sum += static_cast<$sum>(a[size_t{i} * k + q] * b[size_t{j} * k + q])$scaled;
      const $sum got = $got(found[size_t{i} * n + j]);
      if (got != sum && wrong++ < 4) std::printf("D(%u,%u) must be %g, found %g\\n", i, j, double(sum), double(got));
    }
  std::printf("%zu of %zu elements differ\\n", wrong, found.size());
  return wrong != 0;
}
""")


def host(plan: Plan, name: str) -> str:
    """The text of the host program.

    Args:
        plan: a plan of sm100.
        name: of the kernel.

    >>> from descriptors.gemm.planner import plan
    >>> example = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False)
    >>> "gemm<<<dim3(m / kTileM * kPair, n / kTileN), kThreads, kSmem>>>" in host(example, "gemm")
    True
    """
    loop, scales = plan.asked, plan.scales
    low = 0 if "u8" in (loop.a.name, loop.b.name) else -3
    scaled = ""
    if scales is not None:
        v = scales.vector
        scaled = f" * sfa[i * (k / {v}) + q / {v}] * sfb[j * (k / {v}) + q / {v}]"
    tensors = [*_tensor(plan.a, "m", low), *_tensor(plan.b, "n", low)]
    if scales is not None:
        code = "one == 1 ? 127 : 128" if scales.dtype == "ue8m0" else "one == 1 ? 56 : 64"
        a, b = "kTileM / kPair", "kTileN"
        tensors += [*_factors("sfa", scales.a, "m", a, code), *_factors("sfb", scales.b, "n", b, code)]
    kind = {"f32": "float", "s32": "int32_t", "f16": "__half"}[loop.d]
    return COMMON + _MAP + ON_DEVICE + _MAIN.substitute(
        low=low, count=4 - low, name=name, type=kind, tensors="\n".join(tensors),
        maps=" map_sfa, map_sfb," if scales is not None else "", sum="int64_t" if loop.d == "s32" else "float",
        got="__half2float" if loop.d == "f16" else "", scaled=scaled,
    )  # fmt: skip


def _tensor(side: StagedOperand, rows: str, low: int) -> Iterator[str]:
    """A matrix in global memory, with the major of the operand, and its tensor map."""
    name, element, tma = side.matrix.lower(), side.derivation.element, side.tma
    k_first = tma.dimensions[0].mode == 1
    codes = [code_of(type_name(element), value) for value in range(low, 4)]
    inner, outer, index = ("k", rows, "i * k + q") if k_first else (rows, "k", f"q * {rows} + i")
    yield f"  const uint32_t {name}_codes[] = {{{', '.join(map(hex, codes))}}};"
    yield f"  std::vector<uint8_t> {name}_bytes(size_t{{{rows}}} * k * {element.bits} / 8);"
    yield f"  for (size_t i = 0; i < {rows}; ++i)"
    yield "    for (size_t q = 0; q < k; ++q)"
    code = f"{name}_codes[{name}[i * k + q] - ({low})]"
    yield f"      put({name}_bytes, ({index}) * {element.bits}, {element.bits}, {code});"
    box = f"{tma.box[0]}, {tma.box[1]}"
    yield f"  const CUtensorMap map_{name} = tensor_map("
    yield f"      on_device({name}_bytes), {tma.data_type_name}, {inner}, {outer},"
    yield f"      size_t{{{inner}}} * {element.bits} / 8, {box}, {tma.swizzle_name});"


def _factors(name: str, one: ScaleFactors, rows: str, tile: str, code: str) -> Iterator[str]:
    """Scale factors of 1 and 2, tile by tile as a stage holds them, and the tensor map that copies one tile's."""
    v = one.vector
    yield f"  std::vector<float> {name}(size_t{{{rows}}} * (k / {v}));"
    yield f"  for (float& one : {name}) one = 1.0f + static_cast<float>(next(state) % 2);"
    yield f"  std::vector<uint8_t> {name}_bytes(size_t{{{rows}}} / ({tile}) * k_tiles * {one.bytes});"
    yield f"  for (size_t i = 0; i < {rows}; ++i)"
    yield f"    for (size_t q = 0; q < k; q += {v}) {{"
    yield f"      const size_t row = i % ({tile}), column = q % kTileK, block = i / ({tile}) * k_tiles + q / kTileK;"
    yield f"      const float one = {name}[i * (k / {v}) + q / {v}];"
    at = " + ".join(_terms(one.memory[0], "row") + _terms(one.memory[1], "column")) or "0"
    yield f"      {name}_bytes[block * {one.bytes} + {at}] = {code};"
    yield "    }"
    yield f"  const CUtensorMap map_{name} = tensor_map("
    yield f"      on_device({name}_bytes), CU_TENSOR_MAP_DATA_TYPE_UINT8, 128, {name}_bytes.size() / 128, 128, 128,"
    yield f"      {one.bytes // 128}, CU_TENSOR_MAP_SWIZZLE_NONE);"


def _terms(mode: object, name: str) -> list[str]:
    """A mode of a layout as terms of C."""
    assert isinstance(mode, Layout)
    leaves = [(size(leaf), leaf(1)) for leaf in flatten(coalesce(mode)) if size(leaf) > 1]
    terms, divisor = [], 1
    for i, (extent, stride) in enumerate(leaves):
        assert isinstance(stride, int)
        if stride:
            terms.append(Term(name, divisor, extent if i + 1 < len(leaves) else None, stride).spell("/"))
        divisor *= extent
    return terms


#: Bits of exponent and of mantissa of each floating-point type; IEEE's bias in all of them (OCP 8-bit and MX formats).
_FIELDS = {
    "f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "e4m3": (4, 3), "e5m2": (5, 2), "e2m3": (2, 3), "e3m2": (3, 2),
    "e2m1": (2, 1),
}  # fmt: skip


def code_of(dtype: str, value: int) -> int:
    """The bits of an integer from -3 to 3, the types' own: of u8 from 0.

    Args:
        dtype: the element type.
        value: the integer.

    >>> code_of("s8", -2), code_of("e4m3", -2), code_of("e5m2", 3)
    (254, 192, 66)
    """
    if dtype in ("s8", "u8"):
        return value & 0xFF
    exponent, mantissa = _FIELDS[dtype]
    size = abs(value)
    sign = int(value < 0) << (exponent + mantissa)
    if not size:
        return 0
    power = size.bit_length() - 1
    bias = (1 << (exponent - 1)) - 1
    return sign | (power + bias) << mantissa | (size - (1 << power)) << mantissa >> power
