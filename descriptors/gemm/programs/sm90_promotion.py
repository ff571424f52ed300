"""The parts of a program for sm90 whose accumulators are promoted: the factors, their loads, the sums.

Each thread loads its own factors from global memory while the instructions of 128 of K are on their way, waits for
those, and adds what they leave, scaled, to its sums. ``main`` draws the factors as powers of two by a formula of row
and group, so that the plain product is exact and asks the formula.

Law: the factors that a thread loads are those of the rows that the fragment gives its values.

>>> from descriptors.gemm.planner import plan
>>> made = plan("m64n8k32", "e4m3", tile=(64, 8, 128), scale_vector=128, verify=False)
>>> "d_row(thread, 2 * half)" in stage("a", "", "release();"), [made.promotion.row(37, value) for value in (0, 2)]
(True, [17, 25])
"""

from __future__ import annotations

from descriptors.gemm.plan import Plan
from descriptors.gemm.programs.sm90_store import tile_index
from descriptors.gemm.promotion import GROUP, PADDED, Promotion


def texts(plan: Plan, own_tile: str = "") -> dict[str, str]:
    """What stands at each place of the template, as ``sm90_sparse.texts`` has them.

    Args:
        plan: a plan for sm90 whose accumulators are promoted.
        own_tile: the statements by which a CTA of a cluster finds its tile.
    """
    tile = "".join(f"  {line}\n" for line in own_tile.splitlines())
    return {
        "half": "",
        "metadata_memory": _MEMORY,
        "metadata_load": _LOAD,
        "metadata_parameter": "const float* a_scales,\n    const float* b_scales, ",
        "metadata_name": "a_scales, b_scales, ",
        "metadata_rows": _SUMS.replace("$own_tile", tile).replace("$tile", tile_index(plan)),
        "metadata_words": "",
        "depth_parameter": ", int k",
        "depth": ", k",
        "metadata_drawn": _DRAWN,
        "metadata_setup": _SETUP,
        "position": "i",
        "row_of_a": "k",
        "factors": " *\n             a_factor(row, i / GROUP_K) * b_factor(column / GROUP_K, i / GROUP_K)",
    }


def constants(promotion: Promotion) -> list[str]:
    """What the plan says of the promotion."""
    return [
        "",
        f"constexpr int GROUP_K = {GROUP}, PADDED = {PADDED};  // elements that share a factor; rows of A are padded",
        f"constexpr int GROUPS = {promotion.groups}, GROUP_BLOCKS = {promotion.blocks};  // a stage; K blocks of one",
    ]


def stage(a: str, head: str, release: str) -> str:
    """What a warpgroup does once the bytes of a stage are there.

    Args:
        a: the word of A, or its registers, in a K block ``kb``.
        head: statements that come first.
        release: the statement that lets the stage go.
    """
    return (
        head
        + "      for (int group = 0; group < GROUPS; ++group) {\n"
        + _FACTORS
        + _KEPT
        + '        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");\n'
        + "#pragma unroll\n        for (int part = 0; part < GROUP_BLOCKS; ++part) {\n"
        + "          const int kb = group * GROUP_BLOCKS + part;\n"
        + "#pragma unroll\n          for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) {\n"
        + "            const int i = block % BLOCKS_M, j = block / BLOCKS_M;\n"
        + f"            multiply(d[block], {a}, b + b_mn_step(j) + b_k_step(kb), part > 0);\n"
        + "          }\n        }\n"
        + '        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");\n'
        + _KEPT
        + '        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");\n'
        + _KEPT
        + f"        if (group == GROUPS - 1) {{\n          {release}\n        }}\n"
        + _ADDED
        + "      }"
    )


#: The sums take the places of the accumulators, from where they are stored.
AT_THE_END = """\
#pragma unroll
    for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) {
#pragma unroll
      for (int value = 0; value < REGISTERS; ++value) d[block][value] = sum[block][value];
    }
"""

_KEPT = """\
#pragma unroll
        for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) keep(d[block]);
"""

_FACTORS = """\
        float a_factors[BLOCKS_M][2], b_factors[BLOCKS_N];
        const int depth = step * GROUPS + group;
#pragma unroll
        for (int i = 0; i < BLOCKS_M; ++i) {
#pragma unroll
          for (int half = 0; half < 2; ++half)
            a_factors[i][half] = a_scale(a_scales, first_row + (i * WARPGROUPS + warpgroup) * MMA_M +
                                                       d_row(thread, 2 * half), depth, m, k);
        }
#pragma unroll
        for (int j = 0; j < BLOCKS_N; ++j) b_factors[j] = b_scale(b_scales, first_column + j * MMA_N, depth, n, k);
"""

_ADDED = """\
#pragma unroll
        for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) {
          const int i = block % BLOCKS_M, j = block / BLOCKS_M;
#pragma unroll
          for (int value = 0; value < REGISTERS; ++value)
            sum[block][value] += d[block][value] * (a_factors[i][value / 2 % 2] * b_factors[j]);
        }
"""

_SUMS = """\
    float sum[BLOCKS_M * BLOCKS_N][REGISTERS] = {};
    int first_row, first_column;
    {
      int row, column;
      tile_at($tile, rows, columns, row, column);
$own_tile      first_row = row * TILE_M, first_column = column * TILE_N;
    }
"""

_MEMORY = """
// Factors, f32: of A one for a row and GROUP_K elements along K, in ceil(K / GROUP_K) rows of M, M padded to a multiple
// of PADDED; of B one for GROUP_K x GROUP_K, in ceil(N / GROUP_K) rows of ceil(K / GROUP_K)."""

_LOAD = """\

// The factor of a row of A in a group of K; beyond the edges there is nothing to scale.
__device__ __forceinline__ float a_scale(const float* scales, int row, int group, int m, int k) {
  if (row >= m || group * GROUP_K >= k) return 0.0f;
  return __ldg(scales + static_cast<size_t>(group) * ((m + PADDED - 1) / PADDED * PADDED) + row);
}

// The factor of a column of C, which is a row of B.
__device__ __forceinline__ float b_scale(const float* scales, int column, int group, int n, int k) {
  if (column >= n || group * GROUP_K >= k) return 0.0f;
  return __ldg(scales + static_cast<size_t>(column / GROUP_K) * ((k + GROUP_K - 1) / GROUP_K) + group);
}
"""

_DRAWN = """\
// Powers of two, so that every sum is exact.
__host__ __device__ inline float a_factor(int row, int group) {
  return static_cast<float>(1 << mixed(row, group, 3) % 4) * 0.5f;
}
__host__ __device__ inline float b_factor(int block, int group) {
  return static_cast<float>(1 << mixed(block, group, 4) % 4) * 0.25f;
}

// The factors of A and of B, as they lie in memory.
__global__ void scale(float* a_scales, float* b_scales, int m, int n, int k) {
  const int groups = (k + GROUP_K - 1) / GROUP_K, padded = (m + PADDED - 1) / PADDED * PADDED;
  const int blocks = (n + GROUP_K - 1) / GROUP_K, from = blockIdx.x * blockDim.x + threadIdx.x;
  for (int at = from; at < groups * padded; at += gridDim.x * blockDim.x)
    a_scales[at] = at % padded < m ? a_factor(at % padded, at / padded) : 0.0f;
  for (int at = from; at < groups * blocks; at += gridDim.x * blockDim.x)
    b_scales[at] = b_factor(at / groups, at % groups);
}

"""

_SETUP = """\
  float *a_scales, *b_scales;
  const size_t groups = (K + GROUP_K - 1) / GROUP_K;
  check(cudaMalloc(&a_scales, sizeof(float) * groups * ((M + PADDED - 1) / PADDED * PADDED)), "factors of A");
  check(cudaMalloc(&b_scales, sizeof(float) * groups * ((N + GROUP_K - 1) / GROUP_K)), "factors of B");
  scale<<<256, 256>>>(a_scales, b_scales, M, N, K);
"""
