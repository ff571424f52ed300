// From sums to C: scales of rows, alpha and beta, a bias; pieces that the copy engine stores; parts along K.
#pragma once
#include "plan.cuh"

#if TERMS
// What is done to a sum before it is stored; m and n are the extents of C.
struct Terms {
#if ROW_SCALES
  const float* row_scales;  // of M
#endif
#if ALPHA_BETA
  float alpha, beta;
  const TypeC* before;  // M x N, may be C itself; not read where beta is 0
#endif
#if BIAS
  const float* bias;  // of N
#endif
  int m, n;
};

// The element of row x and column y of C, of its sum.
__device__ __forceinline__ float finished(float sum, int x, int y, const Terms& terms) {
  if (x >= terms.m || y >= terms.n) return sum;
#if ROW_SCALES
  sum *= terms.row_scales[x];
#endif
#if ALPHA_BETA
  sum *= terms.alpha;
  if (terms.beta != 0)
    sum += terms.beta * static_cast<float>(terms.before[static_cast<size_t>(x) * terms.n + y]);
#endif
#if BIAS
  sum += terms.bias[y];
#endif
  return sum;
}

#endif
#if STAGED
// A piece to C: what of it is outside is not stored.
#if SPLIT
__device__ __forceinline__ void store_box(const CUtensorMap* map, uint32_t from, int column, int row, int part) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map),
               "r"(column), "r"(row), "r"(part), "r"(from)
               : "memory");
#else
__device__ __forceinline__ void store_box(const CUtensorMap* map, uint32_t from, int column, int row) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
               "r"(column), "r"(row), "r"(from)
               : "memory");
#endif
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

#endif
#if SPLIT
struct alignas(16) FourParts {
  Register of[4];
};
struct alignas(4 * sizeof(TypeC)) FourResults {
  TypeC of[4];
};

// Parts along K, added in their order. Rows are whole 16 bytes of parts, so that elements come by fours.
__global__ void add_parts(const Register* parts, TypeC* c, size_t count
#if TERMS
                          , Terms terms
#endif
) {
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < count / 4;
       at += static_cast<size_t>(gridDim.x) * blockDim.x) {
    FourParts part[SPLITS];
#pragma unroll
    for (int i = 0; i < SPLITS; ++i) part[i] = reinterpret_cast<const FourParts*>(parts + i * count)[at];
    FourResults sum;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      Register total = part[0].of[j];
#pragma unroll
      for (int i = 1; i < SPLITS; ++i) total += part[i].of[j];
#if TERMS
      total = finished(total, (4 * at + j) / terms.n, (4 * at + j) % terms.n, terms);
#endif
      sum.of[j] = TypeC(total);
    }
    reinterpret_cast<FourResults*>(c)[at] = sum;
  }
}

#endif
