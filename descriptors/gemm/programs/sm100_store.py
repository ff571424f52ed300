r"""The storing part of a kernel of sm100: C from registers, or through shared memory by the copy engine.

A warp has the rows of its own lanes, so that it writes and stores its pieces without the other warps: a lane a row,
16 bytes at a time. It ran on an H200 behind sums that were given; no such kernel ran whole.

Law: without pieces no copy to global memory is in the text; a term that is not asked for is not there.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m128n64k16", "bf16", tile=(128, 64, 64), verify=False)
>>> constants(example), functions(example), parameters(example)
('', [], 'float* c, ')
>>> example = plan("m128n64k16", "bf16", tile=(128, 64, 64), c_dtype="bf16", terms="bias", verify=False)
>>> parameters(example)
'const __grid_constant__ CUtensorMap map_c, const __grid_constant__ Terms terms, '
>>> [line.strip() for line in stored(example, "row", "column")]
['finish(v, row + lane, column, terms);', 'store_rows(v, pieces, slot, &map_c, row, column);']
"""

from __future__ import annotations

from string import Template

from descriptors.gemm.accumulators import TensorColumns
from descriptors.gemm.epilogue import BITS, BUFFERS, MAP_TYPES, Pieces
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs import terms
from descriptors.gemm.programs.c_expressions import CPP_TYPES
from descriptors.gemm.programs.pieces import add_parts, conversion, piece_at, store_box

_HEADERS = {"f16": "fp16", "bf16": "bf16", "e4m3": "fp8", "e5m2": "fp8"}


def headers(plan: Plan) -> str:
    """What is included for the type of C."""
    return f"#include <cuda_{_HEADERS[plan.epilogue.c]}.h>\n" if plan.epilogue.c in _HEADERS else ""


def in_parts(plan: Plan) -> bool:
    """Whether K is cut."""
    return plan.epilogue.splits > 1


def constants(plan: Plan) -> str:
    """What the plan says of C; "" where registers go there as they are."""
    made, lines = plan.epilogue, list[str]()
    if made.terms or in_parts(plan):
        lines.append(f"using TypeC = {CPP_TYPES[made.c]};")
    if in_parts(plan):
        lines.append(f"using Register = {CPP_TYPES[plan.asked.d]};")
        lines.append(f"constexpr uint32_t kSplits = {made.splits};  // parts along K")
    if made.staged is not None:
        one = made.staged
        lines.append(
            f"constexpr uint32_t kPieces = {one.base}, kPieceBytes = {one.piece_bytes}, kPieceColumns = {one.columns};"
            f"  // of C, {BUFFERS} a warp"
        )
    return "\n".join([*lines, ""])


def parameters(plan: Plan) -> str:
    """What the kernel is given of C."""
    made = plan.epilogue
    given = "const __grid_constant__ CUtensorMap map_c, " if made.staged is not None else f"{CPP_TYPES[made.c]}* c, "
    return given + ("const __grid_constant__ Terms terms, " if made.terms and not in_parts(plan) else "")


def functions(plan: Plan) -> list[str]:
    """The device functions that store C, and the kernel that adds parts."""
    made, held = plan.epilogue, plan.accumulators
    assert isinstance(held, TensorColumns)
    count = held.readout.values
    texts = [terms.definition(plan, "are the extents of C")] if made.terms else []
    if made.terms and not in_parts(plan):
        texts.append(_FINISH.substitute(count=count))
    if made.staged is not None:
        texts += [piece_at(made.staged), conversion(made.staged.type, plan.asked.d) + _word(made.staged, plan.asked.d)]
        texts.append(store_box(in_parts(plan)))
        texts.append(
            _STORE_ROWS.substitute(
                count=count,
                last=BUFFERS - 1,
                part=", uint32_t part" if in_parts(plan) else "",
                part_given=", part" if in_parts(plan) else "",
                inside=f"if (lane < {made.staged.rows}) " if made.staged.rows < _LANES else "",
                each=128 // BITS[made.staged.type],
                **{name: i * 32 // BITS[made.staged.type] for i, name in enumerate(("one", "two", "three"), 1)},
            )
        )
    if in_parts(plan):
        texts.append(add_parts(plan).replace("SPLITS", "kSplits"))
    return texts


_LANES = 32
_FINISH = Template("""\
// The sums that a lane has of a row, from a column on, as C has them.
__device__ __forceinline__ void finish(uint32_t (&v)[$count], uint32_t row, uint32_t column, const Terms& terms) {
#pragma unroll
  for (uint32_t i = 0; i < $count; ++i) v[i] = __float_as_uint(finished(__uint_as_float(v[i]), row, column + i, terms));
}
""")
_STORE_ROWS = Template("""\
// What the lanes of a warp have of their rows, from a row and a column on, to C: a piece is taken while the next is
// written.
__device__ __forceinline__ void store_rows(
    const uint32_t (&v)[$count], uint32_t pieces, uint32_t& slot, const CUtensorMap* map, uint32_t row,
    uint32_t column$part) {
  const uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (uint32_t first = 0; first < $count; first += kPieceColumns) {
    const uint32_t to = pieces + slot * kPieceBytes;
    slot ^= 1;
    // The piece before the last has been taken, so that its place is free.
    if (lane == 0) asm volatile("cp.async.bulk.wait_group.read $last;" ::: "memory");
    __syncwarp();
#pragma unroll
    for (uint32_t at = 0; at < kPieceColumns; at += $each) {
      const uint32_t i = first + at;
      ${inside}asm volatile(
          "st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
          ::"r"(to + piece_at(lane, at)), "r"(word(v, i)), "r"(word(v, i + $one)), "r"(word(v, i + $two)),
            "r"(word(v, i + $three)) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (lane == 0) store_box(map, to, column + first, row$part_given);
  }
}
""")


def _word(one: Pieces, d: str) -> str:
    """A function: a register of C, of those of the accumulators."""
    if BITS[one.type] == 32:
        what = "v[i]"
    elif d == "f16":
        what = "(v[i] & 0xffff) | v[i + 1] << 16"
    else:
        two = "pair(__uint_as_float(v[i{}]), __uint_as_float(v[i + {}]))"
        what = two.format("", 1)
        if BITS[one.type] == 8:
            what += " | uint32_t{" + two.format(" + 2", 3) + "} << 16"
    return f"""\
// The elements of a row from a value on, as a register of C has them.
template <uint32_t kCount>
__device__ __forceinline__ uint32_t word(const uint32_t (&v)[kCount], uint32_t i) {{
  return {what};
}}
"""


def before(plan: Plan) -> list[str]:
    """What a warp that stores has for all its tiles."""
    if plan.epilogue.staged is None:
        return []
    return [f"    const uint32_t pieces = smem + kPieces + warp * ({BUFFERS} * kPieceBytes);", "    uint32_t slot = 0;"]


def after(plan: Plan) -> list[str]:
    """What it does at the end: shared memory must not be given back before it is read."""
    if plan.epilogue.staged is None:
        return []
    return ['    if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");']


def stored(plan: Plan, row: str, column: str) -> list[str]:
    """The lines that store what a load has brought, of a plan with pieces or terms.

    Args:
        plan: the plan.
        row, column: of the first element of the warp.
    """
    lines, staged, held = list[str](), plan.epilogue.staged is not None, plan.accumulators
    assert isinstance(held, TensorColumns)
    if plan.epilogue.terms and not in_parts(plan):
        guard = f"if (lane < {held.readout.threads}) " if held.readout.threads < _LANES else ""
        lines.append(f"    {guard}finish(v, {row}{' + lane' if staged else ''}, {column}, terms);")
    if staged:
        part = ", part" if in_parts(plan) else ""
        lines.append(f"    store_rows(v, pieces, slot, &map_c, {row}, {column}{part});")
    return lines


def numbers(plan: Plan) -> tuple[int, int]:
    """The least and the greatest number that the host program multiplies; sums of C of 8 bits must not saturate."""
    low, high = (-1, 1) if BITS[plan.epilogue.c] == 8 else (-3, 3)
    return (0 if "u8" in (plan.asked.a.name, plan.asked.b.name) else low), high


def extents(plan: Plan, rows: str, columns: str) -> str:
    """What a kernel is told of C: nothing where the tensor map has it.

    Args:
        plan: the plan.
        rows, columns: of C.
    """
    return f"{rows}, {columns}, " if plan.epilogue.staged is None else ""


# The host program -----------------------------------------------------------------------------------------------------


def result(plan: Plan, rows: str, columns: str) -> str:
    """C in device memory, what is added to it, and its tensor map.

    Args:
        plan: the plan.
        rows, columns: of C.
    """
    made = plan.epilogue
    kind, poison = CPP_TYPES[made.c], "0x80" if plan.asked.d == "s32" else "0xff"  # no sum, and no number
    lines = [
        f"  {kind}* c = nullptr;",
        f"  std::vector<{kind}> found(size_t{{{rows}}} * {columns});",
        '  check(cudaMalloc(&c, sizeof(*c) * found.size()), "cudaMalloc");',
        f'  check(cudaMemset(c, {poison}, sizeof(*c) * found.size()), "cudaMemset");',
    ]
    if in_parts(plan):
        lines += [
            "  Register* parts = nullptr;",
            '  check(cudaMalloc(&parts, sizeof(*parts) * kSplits * found.size()), "cudaMalloc");',
            f'  check(cudaMemset(parts, {poison}, sizeof(*parts) * kSplits * found.size()), "cudaMemset");',
        ]
    if made.staged is not None:
        one, size, more = made.staged, BITS[made.staged.type] // 8, in_parts(plan)
        extents = f"{columns}, {rows}" + ", kSplits" * more
        strides = f"size_t{{{columns}}} * {size}" + f", found.size() * {size}" * more
        lines += [
            "  const CUtensorMap map_c = tensor_map(",
            f"      {'parts' if more else 'c'}, CU_TENSOR_MAP_DATA_TYPE_{MAP_TYPES[one.type]},",
            f"      {{{extents}}}, {{{strides}}}, {{kPieceColumns, {one.rows}{', 1' * more}}},",
            f"      CU_TENSOR_MAP_SWIZZLE_{str(one.swizzle).upper()});",
        ]
    return "\n".join([*lines, *_drawn(plan, rows, columns)])


def _drawn(plan: Plan, rows: str, columns: str) -> list[str]:
    """Terms, of numbers whose sums and products are exact."""
    asked = plan.epilogue.terms
    if not asked:
        return []
    lines = ["  Terms terms;", f"  terms.m = {rows}, terms.n = {columns};"]
    if "row-scales" in asked:
        lines += [
            f"  std::vector<float> row_scales({rows});",
            "  for (float& one : row_scales) one = next(state) % 2 ? 0.5f : 2.0f;",
            "  terms.row_scales = static_cast<const float*>(on_device(row_scales));",
        ]
    if "alpha-beta" in asked:
        lines += [
            "  std::vector<TypeC> before(found.size());",
            "  for (TypeC& one : before) one = TypeC(static_cast<float>(next(state) % 5) - 2);",
            "  terms.alpha = 0.5f, terms.beta = -1, terms.before = static_cast<const TypeC*>(on_device(before));",
        ]
    if "bias" in asked:
        lines += [
            f"  std::vector<float> bias({columns});",
            "  for (float& one : bias) one = static_cast<float>(next(state) % 7) - 3;",
            "  terms.bias = static_cast<const float*>(on_device(bias));",
        ]
    return lines


def given(plan: Plan) -> str:
    """What the kernel is launched with, of C."""
    what = "c" if plan.epilogue.staged is None else "map_c"
    return f"{what}, terms, " if plan.epilogue.terms and not in_parts(plan) else f"{what}, "


def added(plan: Plan) -> str:
    """The launch that adds parts; "" of one."""
    more = ", terms" if plan.epilogue.terms else ""
    return f"  add_parts<<<256, 256>>>(parts, c, found.size(){more});\n" if in_parts(plan) else ""


def wanted(plan: Plan, row: str, column: str, at: str) -> str:
    """The statements that make an element of C of the sum that a plain product has, and what was found of it.

    Args:
        plan: the plan.
        row, column, at: of the element, and its number in memory.
    """
    kind, lines = "int64_t" if plan.asked.d == "s32" else "float", list[str]()
    does = {
        "row-scales": f"sum *= row_scales[{row}];",
        "alpha-beta": f"sum = 0.5f * sum - static_cast<float>(before[{at}]);",
        "bias": f"sum += bias[{column}];",
    }
    lines += [text for name, text in does.items() if name in plan.epilogue.terms]
    c = CPP_TYPES[plan.epilogue.c]
    lines += [f"sum = static_cast<float>({c}(sum));"] if plan.epilogue.c not in ("f32", "s32") else []
    return "".join(f"      {line}\n" for line in [*lines, f"const {kind} got = static_cast<{kind}>(found[{at}]);"])
