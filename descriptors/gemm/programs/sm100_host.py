"""The host program of a kernel of sm100: tensors, tensor maps, a launch, and a plain product to compare with.

Matrices are filled with small integers, as the bits of their element types.

Laws: the tensor maps have what the plan gives ``cuTensorMapEncodeTiled``; no two numbers have one code, and -x differs
from x in the sign alone.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False)
>>> [line.split("}, ", 1)[1] for line in host(example, "gemm").splitlines() if "CU_TENSOR_MAP_SWIZZLE" in line]
['{64, 128}, CU_TENSOR_MAP_SWIZZLE_128B);', '{64, 16}, CU_TENSOR_MAP_SWIZZLE_128B);']
>>> [hex(code_of("bf16", x)) for x in (-1, 0, 1, 3)], [code_of("e2m1", x) for x in (1, 2, 3)]
(['0xbf80', '0x0', '0x3f80', '0x4040'], [2, 4, 5])
"""

from __future__ import annotations

from collections.abc import Iterator
from string import Template

from descriptors.gemm.accumulators import TensorColumns
from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_metadata import Metadata
from descriptors.gemm.plan_operands import StagedOperand
from descriptors.gemm.program_support import ONE_AND_TWO
from descriptors.gemm.programs import sm100_store, sm100_turns
from descriptors.smem.emitters.recipe import Term
from descriptors.smem.instructions.rules import type_name
from descriptors.tmem.scale_factors import ScaleFactors
from layoutalg import Layout, coalesce, flatten, make_layout, size

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
template <class T>
static void* on_device(const std::vector<T>& values) {
  void* data = nullptr;
  check(cudaMalloc(&data, values.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return data;
}

"""

#: A tensor map: extents and box from the fastest dimension on, strides in bytes from the second.
TENSOR_MAP = """\
static CUtensorMap tensor_map(
    void* data, CUtensorMapDataType type, const std::vector<cuuint64_t>& extents,
    const std::vector<cuuint64_t>& strides, const std::vector<cuuint32_t>& box, CUtensorMapSwizzle swizzle) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found), "driver");
  CUtensorMap map;
  const std::vector<cuuint32_t> steps(box.size(), 1);
  const CUresult status = reinterpret_cast<Encode>(entry)(
      &map, type, static_cast<cuuint32_t>(box.size()), data, extents.data(), strides.data(), box.data(), steps.data(),
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: %d\\n", static_cast<int>(status));
    std::exit(1);
  }
  return map;
}

"""

_MAIN = Template("""\
int main() {
  const uint32_t m = $m, n = $n, k_tiles = $steps, k = k_tiles * kTileK;
  std::vector<int> a(size_t{m} * k), b(size_t{n} * k);
  uint32_t state = 1;
  for (auto* matrix : {&a, &b})
    for (int& one : *matrix) one = $low + static_cast<int>(next(state) % $count);
$zeros$tensors
$result
  check(cudaFuncSetAttribute($name, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem), "shared memory");
  $name<<<$grid, kThreads, kSmem>>>(map_a, map_b,$maps $c$extents);
$added  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "kernel");
  check(cudaMemcpy(found.data(), c, sizeof(*c) * found.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  size_t wrong = 0;
  for (uint32_t i = 0; i < m; ++i)
    for (uint32_t j = 0; j < n; ++j) {
      $sum sum = 0;
      for (uint32_t q = 0; q < k; ++q) sum += static_cast<$sum>(a[size_t{i} * k + q] * b[size_t{j} * k + q])$scaled;
$wanted\
      if (got != sum && wrong++ < 4) std::printf("C(%u,%u) must be %g, found %g\\n", i, j, double(sum), double(got));
    }
  std::printf("%zu of %zu elements differ\\n", wrong, found.size());
  return wrong != 0;
}
""")

#: A CTA, or a pair, for every tile.
_GRID = "dim3((m + kTileM - 1) / kTileM * kPair, (n + kTileN - 1) / kTileN{parts})"


def host(plan: Plan, name: str) -> str:
    """The text of the host program.

    Args:
        plan: a plan of sm100.
        name: of the kernel.

    >>> from descriptors.gemm.planner import plan
    >>> example = plan("m128n16k16", "bf16", tile=(128, 16, 64), stages=2, verify=False)
    >>> "gemm<<<dim3((m + kTileM - 1) / kTileM * kPair, (n + kTileN - 1) / kTileN)" in host(example, "gemm")
    True
    """
    loop, scales = plan.asked, plan.scales
    low, high = sm100_store.numbers(plan)
    scaled = ""
    if scales is not None:
        v = scales.vector
        scaled = f" * sfa[i * (k / {v}) + q / {v}] * sfb[j * (k / {v}) + q / {v}]"
    tensors = [*_tensor(plan.a, "m", low), *_tensor(plan.b, "n", low)]
    if plan.metadata is not None:
        tensors += _metadata(plan.metadata)
    if scales is not None:
        code = f"one == 1 ? {ONE_AND_TWO[scales.dtype]}"
        a, b = "kTileM / kPair", "kTileN"
        zeros = 1 + loop.sparse
        tensors += _factors("sfa", scales.a, "m", a, code, zeros)
        tensors += _factors("sfb", scales.b, "n", b, code, zeros)
    held = plan.accumulators
    turns = isinstance(held, TensorColumns) and held.sets > 1
    # The test has a step for each part along K, several of some.
    steps = max(2 * plan.stages, 2 * plan.epilogue.splits) + 1
    grid = _GRID.format(parts=", kSplits" if sm100_store.in_parts(plan) else "")
    times = sm100_turns.TILES if turns else 2
    # Tiles end beyond C, where nothing but C has tiles of its own.
    ragged = scales is None and plan.metadata is None and loop.tile[1] > 16
    m, n = (f"{times} * kTile{mode}{' - 16' * ragged}" for mode in "MN")
    return COMMON + TENSOR_MAP + ON_DEVICE + _MAIN.substitute(
        m=m, n=n, grid=f"{sm100_turns.RUNNING} * kPair" if turns else grid,
        steps="2 * kStages + 1" if steps == 2 * plan.stages + 1 else steps,
        extents="m, n, k" if turns else f"{sm100_store.extents(plan, 'm', 'n')}k_tiles", low=low,
        count=high - low + 1, name=name,
        result=sm100_store.result(plan, "m", "n"), c=sm100_store.given(plan), added=sm100_store.added(plan),
        wanted=sm100_store.wanted(plan, "i", "j", "size_t{i} * n + j"),
        tensors="\n".join(tensors),
        maps=" map_e," * loop.sparse + " map_sfa, map_sfb," * (scales is not None),
        zeros=_zeros(plan.metadata) if plan.metadata is not None else "", sum="int64_t" if loop.d == "s32" else "float",
        scaled=scaled,
    )  # fmt: skip


def _tensor(side: StagedOperand, rows: str, low: int) -> Iterator[str]:
    """A matrix in global memory, with the major of the operand, and its tensor map."""
    name, element, tma = side.matrix.lower(), side.derivation.element, side.tma
    k_first = tma.dimensions[0].mode == 1
    codes = [code_of(type_name(element), value) for value in range(low, 4)]  # more than are used, of some types of C
    k, at = ("k / 2", "k_of(i, q)") if side.sparse else ("k", "q")
    inner, outer, index = (k, rows, f"i * ({k}) + q") if side.sparse else ("k", rows, "i * k + q")
    if not k_first:
        inner, outer, index = rows, k, f"q * {rows} + i"
    yield f"  const uint32_t {name}_codes[] = {{{', '.join(map(hex, codes))}}};"
    depth = f"({k})" if side.sparse else k
    yield f"  std::vector<uint8_t> {name}_bytes(size_t{{{rows}}} * {depth} * {element.bits} / 8);"
    yield f"  for (size_t i = 0; i < {rows}; ++i)"
    yield f"    for (size_t q = 0; q < {k}; ++q)"
    code = f"{name}_codes[{name}[i * k + {at}] - ({low})]"
    yield f"      put({name}_bytes, ({index}) * {element.bits}, {element.bits}, {code});"
    yield f"  const CUtensorMap map_{name} = tensor_map("
    yield f"      on_device({name}_bytes), {tma.data_type_name}, {{{inner}, {outer}}},"
    yield f"      {{size_t{{{inner}}} * {element.bits} / 8}}, {{{tma.box[0]}, {tma.box[1]}}}, {tma.swizzle_name});"


def _zeros(metadata: Metadata) -> str:
    """A code for every group of A, what it leaves out set to zero, and where along K each stored element is."""
    one = metadata.packed
    legal = "0x4, 0xe" if one.stored == 1 else "0x4, 0x8, 0x9, 0xc, 0xd, 0xe"
    position = "(code >> 3)" if one.stored == 1 else "(code >> 2 * (q % 2) & 3)"
    if one.together > 1:
        position = "(code >> 2 * (q / 2 % 2) & 3) * 2 + q % 2"
    return f"""\
  // A has a code for each {one.group} elements along K; it says which {one.stored} are stored, and others are zero.
  const uint32_t legal[] = {{{legal}}};
  std::vector<uint8_t> codes(size_t{{m}} * (k / {one.group}));
  for (uint8_t& code : codes) code = static_cast<uint8_t>(legal[next(state) % {2 if one.stored == 1 else 6}]);
  const auto k_of = [&](size_t i, size_t q) {{
    const uint32_t code = codes[i * (k / {one.group}) + q / {one.stored}];
    return q / {one.stored} * {one.group} + {position};
  }};
  std::vector<int> kept(a.size());
  for (size_t i = 0; i < m; ++i)
    for (size_t q = 0; q < k / 2; ++q) kept[i * k + k_of(i, q)] = a[i * k + k_of(i, q)];
  a = kept;
"""


def _metadata(metadata: Metadata) -> Iterator[str]:
    """The codes, 128 rows of a tile after the other as a stage holds them, and the tensor map that copies them."""
    one, rows = metadata.packed, metadata.boxes[0]
    yield f"  std::vector<uint8_t> e_bytes(size_t{{m}} / {one.rows} * k_tiles * {metadata.block_bytes});"
    yield "  for (size_t i = 0; i < m; ++i)"
    yield f"    for (size_t q = 0; q < k; q += {one.group}) {{"
    block = f"i / {one.rows} * k_tiles + q / kTileK"
    yield f"      const size_t row = i % {one.rows}, column = q % kTileK, block = {block};"
    rows_of_block = make_layout(*list(metadata.layout[0])[:-1])
    at = " + ".join(_terms(rows_of_block, "row") + _terms(metadata.layout[1], "column"))
    yield f"      put(e_bytes, block * {8 * metadata.block_bytes} + {at}, 4, codes[(i * k + q) / {one.group}]);"
    yield "    }"
    yield "  const CUtensorMap map_e = tensor_map("
    yield from _rows("e_bytes", rows)


def _factors(name: str, one: ScaleFactors, rows: str, tile: str, code: str, zeros: int) -> Iterator[str]:
    """Scale factors of 1 and 2, tile by tile as a stage holds them, and the tensor map that copies one tile's.

    Of a sparse A, and its B, ``zeros`` is 2: they are laid out as for half of K.
    """
    v = one.vector * zeros
    column = "q % kTileK / 2" if zeros == 2 else "q % kTileK"
    yield f"  std::vector<float> {name}(size_t{{{rows}}} * (k / {v}));"
    yield f"  for (float& one : {name}) one = 1.0f + static_cast<float>(next(state) % 2);"
    yield f"  std::vector<uint8_t> {name}_bytes(size_t{{{rows}}} / ({tile}) * k_tiles * {one.bytes});"
    yield f"  for (size_t i = 0; i < {rows}; ++i)"
    yield f"    for (size_t q = 0; q < k; q += {v}) {{"
    yield f"      const size_t row = i % ({tile}), column = {column}, block = i / ({tile}) * k_tiles + q / kTileK;"
    yield f"      const float one = {name}[i * (k / {v}) + q / {v}];"
    at = " + ".join(_terms(one.memory[0], "row") + _terms(one.memory[1], "column")) or "0"
    yield f"      {name}_bytes[block * {one.bytes} + {at}] = {code};"
    yield "    }"
    yield f"  const CUtensorMap map_{name} = tensor_map("
    yield from _rows(f"{name}_bytes", one.bytes // 128)


def _rows(name: str, box: int) -> Iterator[str]:
    """The rest of a call: bytes as rows of 128, of which a copy brings so many."""
    yield f"      on_device({name}), CU_TENSOR_MAP_DATA_TYPE_UINT8, {{128, {name}.size() / 128}},"
    yield f"      {{128}}, {{128, {box}}}, CU_TENSOR_MAP_SWIZZLE_NONE);"


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
    if dtype == "s1z4m11":  # a sign and a magnitude
        return int(value < 0) << 15 | abs(value)
    exponent, mantissa = _FIELDS[dtype]
    size = abs(value)
    sign = int(value < 0) << (exponent + mantissa)
    if not size:
        return 0
    power = size.bit_length() - 1
    bias = (1 << (exponent - 1)) - 1
    return sign | (power + bias) << mantissa | (size - (1 << power)) << mantissa >> power
