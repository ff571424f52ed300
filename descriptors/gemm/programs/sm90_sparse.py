"""The parts of a program for sm90 that a sparse A changes: its half of K, its metadata, and what checks the product.

Each thread loads the words of its own metadata from global memory, where ``pack_metadata`` put them, while the stage is
on its way; beyond the edges of A it takes codes for the zeros that lie there. ``main`` draws the codes by a formula of
row and group, so that the plain product asks the formula, and no packed word.

Law: with a dense A nothing of it is in the text.

>>> from descriptors.gemm.planner import plan
>>> dense, sparse = (texts(plan("m64n8k32", t, tile=(64, 8, 64), sparse=s, arch="sm90", verify=False))
...                  for t, s in (("s8", False), ("bf16", True)))
>>> [name for name, text in dense.items() if "metadata" in text], sparse["half"], sparse["metadata_name"]
([], ' / 2', 'metadata, ')
"""

from __future__ import annotations

from descriptors.gemm.plan import Plan
from descriptors.gemm.plan_metadata import Metadata
from descriptors.gemm.programs.c_expressions import row_and_column
from descriptors.gemm.programs.sm90_store import tile_index
from layoutalg import fragment


def texts(plan: Plan, own_tile: str = "") -> dict[str, str]:
    """What stands at each place of the template.

    Args:
        plan: a plan for sm90.
        own_tile: the statements by which a CTA of a cluster finds its tile.
    """
    if plan.metadata is None:
        return {**dict.fromkeys(_PLACES, ""), "position": "i", "row_of_a": "k"}
    return {
        "half": " / 2",
        "metadata_memory": _MEMORY,
        "metadata_load": _LOAD,
        "metadata_parameter": "const uint32_t* metadata,\n    ",
        "metadata_name": "metadata, ",
        "metadata_rows": _ROWS.replace("$own_tile", _indented(own_tile)).replace("$tile", tile_index(plan)),
        "metadata_words": _WORDS,
        "depth_parameter": ", int k",
        "depth": ", k",
        "metadata_drawn": _drawn(plan, plan.metadata),
        "metadata_setup": _SETUP,
        "position": "k_of(row, i)",
        "row_of_a": "(k / 2)",
        "factors": "",
    }


def _indented(lines: str) -> str:
    return "".join(f"  {line}\n" for line in lines.splitlines())


def constants(plan: Plan) -> list[str]:
    """What the plan says of the metadata; nothing of none."""
    if plan.metadata is None:
        return []
    one, packs = plan.metadata.packed, plan.metadata.registers
    return [
        "",
        f"// A has a code of 4 bits for each {one.group} elements along K, of which {one.stored} is stored, or zero.",
        f"constexpr int MMA_K = {one.depth}, GROUP_K = {one.group}, COVERED = {one.covered};  // COVERED: of 128 words",
        f"constexpr int PACKS = {packs}, SELECTORS = {one.blocks};  // PACKS: of 128 words, in a stage",
    ]


_PLACES = (
    "half", "metadata_memory", "metadata_load", "metadata_parameter", "metadata_name", "metadata_rows",
    "metadata_words", "depth_parameter", "depth", "metadata_drawn", "metadata_setup", "factors",
)  # fmt: skip

_MEMORY = """
// A is stored without its zeros, K / 2 of K. Its metadata are 128 words for each 64 rows and COVERED elements along K,
// one for each thread of a warpgroup, first all along K: ((M + 63) / 64) ((K + COVERED - 1) / COVERED) 128 words."""

_LOAD = """\

// A thread's word for 64 rows and COVERED elements along K; beyond the edges of A codes of what is zero.
__device__ __forceinline__ uint32_t metadata_word(const uint32_t* metadata, int rows, int pack, int m, int k,
                                                  int thread) {
  const int packs = (k + COVERED - 1) / COVERED;
  if (64 * rows >= m || pack >= packs) return 0x44444444;
  return __ldg(metadata + (static_cast<size_t>(rows) * packs + pack) * 128 + thread);
}
"""

_ROWS = """\
    int first_rows;
    {
      int row, column;
      tile_at($tile, rows, columns, row, column);
$own_tile      first_rows = row * (TILE_M / 64);
    }
"""

_WORDS = """\
      uint32_t e[BLOCKS_M][PACKS];
#pragma unroll
      for (int i = 0; i < BLOCKS_M; ++i) {
#pragma unroll
        for (int pack = 0; pack < PACKS; ++pack)
          e[i][pack] = metadata_word(metadata, first_rows + i * WARPGROUPS + warpgroup, step * PACKS + pack, m, \
k, thread);
      }
"""


def _drawn(plan: Plan, metadata: Metadata) -> str:
    """Codes by a formula, the k that they say, and the words of all threads: from the layout of the fragment."""
    one = metadata.packed
    held = fragment(f"wgmma.sp.{plan.asked.name}.E.{plan.asked.a.name}")
    row, column = row_and_column(held.layout, 64)
    legal = "0x4, 0xE" if one.stored == 1 else "0x4, 0x8, 0x9, 0xC, 0xD, 0xE"
    count = 2 if one.stored == 1 else 6
    position = "code >> 3" if one.stored == 1 else "code >> 2 * (stored % 2) & 3"
    return f"""\
// The code of a group of elements along K of A.
__host__ __device__ inline uint32_t code_of(int row, int group) {{
  constexpr uint32_t codes[] = {{{legal}}};
  return codes[mixed(row, group, 3) % {count}];
}}

// Where along K the element is that is stored as number so and so of a row.
__host__ __device__ inline size_t k_of(int row, int stored) {{
  const uint32_t code = code_of(row, stored / {one.stored});
  return stored / {one.stored} * GROUP_K + ({position});
}}

// The word of each thread, from the lowest bits up: {held.layout} of (thread, value) is m + 64 k of a K block.
__global__ void pack(uint32_t* metadata, int m, int k) {{
  const int packs = (k + COVERED - 1) / COVERED;
  const size_t count = static_cast<size_t>((m + 63) / 64) * packs * 128;
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < count;
       at += static_cast<size_t>(gridDim.x) * blockDim.x) {{
    const int thread = static_cast<int>(at % 128), block = static_cast<int>(at / 128);
    uint32_t word = 0;
    for (int code = 0; code < 8; ++code) {{
      const int value = code * {held.values // 8};
      const int row = block / packs * 64 + {row};
      const int column = block % packs * COVERED + thread / 2 % SELECTORS * MMA_K + {column};
      word |= (row < m && column < k ? code_of(row, column / GROUP_K) : 0x4) << 4 * code;
    }}
    metadata[at] = word;
  }}
}}

"""


_SETUP = """\
  uint32_t* metadata;
  check(cudaMalloc(&metadata, sizeof(uint32_t) * 128 * ((M + 63) / 64) * ((K + COVERED - 1) / COVERED)), "metadata");
  pack<<<1024, 256>>>(metadata, M, K);
"""
