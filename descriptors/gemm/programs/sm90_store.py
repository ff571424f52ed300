r"""The storing part of a program for sm90: C from registers, or through shared memory by the copy engine.

Law: without pieces no copy to global memory is in the text; without parts along K no second kernel is.

>>> from descriptors.gemm.planner import plan
>>> example = plan("m64n64k16", "bf16", tile=(64, 64, 64), verify=False)
>>> texts(example)["part"], "stmatrix" in helpers(example)
('', False)
>>> example = plan("m64n64k16", "bf16", tile=(64, 64, 64), c_dtype="bf16", verify=False)
>>> "stmatrix" in helpers(example), "add_parts" in helpers(example)
(True, False)
"""

from __future__ import annotations

from descriptors.gemm.epilogue import BITS, BUFFERS, MAP_TYPES, Pieces
from descriptors.gemm.plan import Plan
from descriptors.gemm.programs import terms
from descriptors.gemm.programs.c_expressions import CPP_TYPES
from descriptors.gemm.programs.pieces import add_parts, conversion, piece_at, store_box


def constants(plan: Plan) -> list[str]:
    """What the plan says of C."""
    made = plan.epilogue
    lines = [f"using TypeC = {CPP_TYPES[made.c]};"]
    if made.staged is not None:
        one = made.staged
        lines += [
            f"constexpr int PIECES = {one.base}, PIECE_BYTES = {one.piece_bytes}, PIECE_COLUMNS = {one.columns};  "
            f"// of C, {BUFFERS} a warpgroup",
            f"constexpr int PIECE_VALUES = {one.columns // 2};  // of a thread",
        ]
    if made.splits > 1:
        lines.append(f"constexpr int SPLITS = {made.splits};  // parts along K")
    return lines


def texts(plan: Plan) -> dict[str, str]:
    """What stands at each place of the template."""
    made = plan.epilogue
    staged, parts = made.staged is not None, made.splits > 1
    inside = plan.metadata is not None or plan.promotion is not None  # whose loads ask for the edges of C
    return {
        "count": "rows * columns * SPLITS" if parts else "rows * columns",
        "tile": tile_index(plan),
        "part": _PART if parts else "",
        "first_step": "first" if parts else "0",
        "end_step": "end" if parts else "steps",
        "consume_c": f"const CUtensorMap* map_c{', int m, int n' * inside}" if staged else "TypeC* c, int m, int n",
        "consume_given": f"&map_c{', m, n' * inside}" if staged else "c, m, n",
        "kernel_c": "const __grid_constant__ CUtensorMap map_c" if staged else "TypeC* c",
        "turn": ", turn = 0" if staged else "",
        "stores": (_stores(parts) if staged else _DIRECT).removesuffix("\n"),
        "stored": _STORED if staged else "",
        "launch_c": "TypeC* c, Register* parts" if parts else "TypeC* c",
        "launch_about": "; the parts along K in SPLITS x M x N of parts" if parts else "",
        "map_c": f"\n  const CUtensorMap map_c = tensor_map_c({'parts' if parts else 'c'}, M, N);" if staged else "",
        "given_c": "map_c" if staged else "c",
        "all_tiles": "SPLITS * " if parts else "",
        "added": _ADDED.format(given=terms.texts(plan)["add_given"]) if parts else "",
        "c_rows": ", B or C" if staged else " or B",
        "k_parts": ", and K have a step for each part" if parts else "",
        **terms.texts(plan),
        "main_parts": _MAIN_PARTS if parts else "",
        "main_c": "c, parts" if parts else "c",
    }


def tile_index(plan: Plan) -> str:
    """The number of the tile of C, among all tiles of all parts along K."""
    parts = plan.epilogue.splits > 1
    return "index % (rows * columns)" if parts else "index"


_PART = """\
    const int part = index / (rows * columns), first = steps * part / SPLITS, end = steps * (part + 1) / SPLITS;
"""
_DIRECT = """\
#pragma unroll
      for (int value = 0; value < VALUES; value += 2) {
        const int x = row * TILE_M + i * MMA_M + d_row(thread, value);
        const int y = column * TILE_N + j * MMA_N + d_column(thread, value);
        if (x < m) store_two(c + static_cast<size_t>(x) * n + y, n - y, d[block], value);
      }
"""
_STORED = """\
  if (thread == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
"""
_ADDED = """\
  add_parts<<<2 * processors, 256, 0, stream>>>(parts, c, static_cast<size_t>(M) * N{given});
"""
_MAIN_PARTS = """\
  Register* parts;
  check(cudaMalloc(&parts, sizeof(Register) * SPLITS * M * N), "parts");
"""


def _stores(parts: bool) -> str:
    return f"""\
#pragma unroll
      for (int piece = 0; piece < MMA_N / PIECE_COLUMNS; ++piece) {{
        const uint32_t to = base + PIECES + (warpgroup * {BUFFERS} + turn) * PIECE_BYTES;
        turn ^= 1;
        // The piece before the last has been taken, so that its place is free.
        if (thread == 0) asm volatile("cp.async.bulk.wait_group.read {BUFFERS - 1};" ::: "memory");
        warpgroup_sync(warpgroup);
        write_piece(to, d[block], piece * PIECE_VALUES, thread);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        warpgroup_sync(warpgroup);
        if (thread == 0)
          store_box(map_c, to, column * TILE_N + j * MMA_N + piece * PIECE_COLUMNS, row * TILE_M + i * MMA_M\
{", part" if parts else ""});
      }}
"""


def helpers(plan: Plan) -> str:
    """The device functions that store C, and the kernel that adds parts."""
    made = plan.epilogue
    if made.staged is None:
        return "\n".join(filter(None, [terms.definition(plan), _store_two(plan.asked.d)]))
    text = [
        *filter(None, [terms.definition(plan)]),
        _SYNC,
        piece_at(made.staged),
        _write_piece(made.staged, plan.asked.d),
        store_box(made.splits > 1),
    ]
    return "\n".join([*text, add_parts(plan)] if made.splits > 1 else text)


def host(plan: Plan) -> str:
    """The host function that encodes the tensor map of C; "" where C has none."""
    made = plan.epilogue
    if made.staged is None:
        return ""
    one, parts = made.staged, made.splits > 1
    size = BITS[one.type] // 8
    extents, strides, box = "{N, M}", f"{{N * {size}}}", "{PIECE_COLUMNS, MMA_M}"
    if parts:
        extents, strides, box = "{N, M, SPLITS}", f"{{N * {size}, M * N * {size}}}", "{PIECE_COLUMNS, MMA_M, 1}"
    ones = ", ".join("1" for _ in extents.split(","))
    return f"""\
inline CUtensorMap tensor_map_c(void* C, cuuint64_t M, cuuint64_t N) {{
  const cuuint64_t extents[] = {extents}, strides[] = {strides};
  const cuuint32_t box[] = {box}, steps[] = {{{ones}}};
  CUtensorMap made;
  const CUresult result = encoder()(&made, CU_TENSOR_MAP_DATA_TYPE_{MAP_TYPES[one.type]}, {3 if parts else 2}, C,
                                    extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                    CU_TENSOR_MAP_SWIZZLE_{str(one.swizzle).upper()}, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {{
    std::fprintf(stderr, "cuTensorMapEncodeTiled: error %d, result C\\n", static_cast<int>(result));
    std::exit(2);
  }}
  return made;
}}
"""


def conditions(plan: Plan) -> list[str]:
    """What M, N and K must be for the copies of C, as tests of C++."""
    made = plan.epilogue
    tests = [] if made.staged is None else [f"(N * {BITS[made.staged.type] // 8}) % 16 == 0"]
    steps = "K > (SPLITS - 1) * TILE_K" if plan.implicit is None else "TAPS * ((K + TILE_K - 1) / TILE_K) >= SPLITS"
    return tests + ([steps] if made.splits > 1 else [])


def _store_two(d: str) -> str:
    """Two neighbours of a row of C to where they belong, if they are inside."""
    head = (
        "// Two neighbours of a row of C, of which there are so many left.\n"
        "__device__ __forceinline__ void store_two(TypeC* to, int left, const Register (&d)[REGISTERS], int value) {\n"
    )
    if d == "f16":
        return head + (
            "  const uint32_t both = d[value / 2];\n"
            "  if (left >= 2 && reinterpret_cast<uintptr_t>(to) % 4 == 0) {\n"
            "    *reinterpret_cast<uint32_t*>(to) = both;\n"
            "  } else {\n"
            "    if (left >= 1) to[0] = __ushort_as_half(both & 0xffff);\n"
            "    if (left >= 2) to[1] = __ushort_as_half(both >> 16);\n  }\n}\n"
        )
    pair = {"f32": "float2", "s32": "int2"}[d]
    return head + (
        "  if (left >= 2 && reinterpret_cast<uintptr_t>(to) % 8 == 0) {\n"
        f"    *reinterpret_cast<{pair}*>(to) = {pair}{{d[value], d[value + 1]}};\n"
        "  } else {\n"
        "    if (left >= 1) to[0] = d[value];\n"
        "    if (left >= 2) to[1] = d[value + 1];\n  }\n}\n"
    )


_SYNC = """\
__device__ __forceinline__ void warpgroup_sync(int warpgroup) {
  asm volatile("bar.sync %0, 128;" ::"r"(1 + warpgroup) : "memory");
}
"""


def _write_piece(one: Pieces, d: str) -> str:
    head = (
        "// What a thread holds of a piece, from that value of its accumulator on, as elements of C.\n"
        "__device__ __forceinline__ void write_piece(uint32_t to, const Register (&d)[REGISTERS], int first, "
        "int thread) {\n"
    )
    if one.matrices:
        weights = [one.pointer(1 << bit) for bit in range(7)]
        assert weights == [(1, 0), (2, 0), (4, 0), (8, 0), (0, 8), (16, 0), (32, 0)]
        pairs = "\n".join(_pair(one.type, d, f"v[{i}]", f"first + value + {2 * i}") for i in range(4))
        return (
            conversion(one.type, d)
            + head
            + f"""\
#pragma unroll
  for (int value = 0; value < PIECE_VALUES; value += 8) {{
    uint32_t v[4];
{pairs}
    const uint32_t at = piece_at(thread % 16 + thread / 32 * 16, thread % 32 / 16 * 8 + value * 2);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {{%1, %2, %3, %4}};" ::"r"(to + at), "r"(v[0]),
                 "r"(v[1]), "r"(v[2]), "r"(v[3])
                 : "memory");
  }}
}}
"""
        )
    return (
        conversion(one.type, d)
        + head
        + f"""\
#pragma unroll
  for (int value = 0; value < PIECE_VALUES; value += 2) {{
    const uint32_t at = to + piece_at(d_row(thread, value), d_column(thread, value));
{_put(one.type, d)}
  }}
}}
"""
    )


def _pair(type_: str, d: str, to: str, value: str) -> str:
    """The statement that makes one register of two neighbours."""
    if d == "f16":
        return f"    {to} = d[({value}) / 2];"
    return f"    {to} = pair(d[{value}], d[{value} + 1]);"


def _put(type_: str, d: str) -> str:
    """The store of two neighbours, in the width that they have."""
    if BITS[type_] == 32:
        kind, letter = ("f32", "f") if d == "f32" else ("b32", "r")
        return (
            f'    asm volatile("st.shared.v2.{kind} [%0], {{%1, %2}};" ::"r"(at), "{letter}"(d[first + value]),\n'
            f'                 "{letter}"(d[first + value + 1])\n                 : "memory");'
        )
    what = "d[(first + value) / 2]" if d == "f16" else "pair(d[first + value], d[first + value + 1])"
    width, letter = ("b32", "r") if BITS[type_] == 16 else ("b16", "h")
    return f'    asm volatile("st.shared.{width} [%0], %1;" ::"r"(at), "{letter}"({what}) : "memory");'
