// The product probe: a whole product of subtiles through given words, shared memory filled by a plain copy or by the copy
// engine. One block a case.
#pragma once
#include <cuda.h>

#include "common.cuh"
#include "copy.cuh"

// As 64-bit integers, so that the host writes it as one array.
struct Case {
  uint64_t image;      // device pointer: what shared memory holds after the probe's own bytes
  uint64_t bytes;      // its length, a multiple of 16
  uint64_t a_words;    // device pointer: word of subtile (m, k), k fastest
  uint64_t b_words;    // device pointer: word of subtile (n, k), k fastest
  uint64_t m, n, k;    // number of subtiles
  uint64_t out;        // device pointer: (64 m, N n) accumulators, row by row
  uint64_t a_boxes, b_boxes;  // device pointers: boxes for the copy engine, as in copy.cuh
  uint64_t a_count, b_count;  // how many; 0: the image holds the operand
  uint64_t a_rank, b_rank;    // rank of the tensor maps
  uint64_t copy_bytes;        // what the copy engine brings in all
};

template <class Instruction>
__device__ void product(const Case* cases, const CUtensorMap* map_a, const CUtensorMap* map_b) {
  using Accumulator = typename Instruction::Accumulator;
  constexpr int N = Instruction::N;
  extern __shared__ __align__(1024) uint8_t shared[];
  uint8_t* tiles = shared + OWN_BYTES;
  const Case& one = cases[blockIdx.x];
  const uint4* image = reinterpret_cast<const uint4*>(one.image);
  for (uint64_t i = threadIdx.x; i < one.bytes / 16; i += blockDim.x) reinterpret_cast<uint4*>(tiles)[i] = image[i];
  fence_async();
  __syncthreads();
  if (one.copy_bytes) {
    const Boxes a{map_a, one.a_rank, reinterpret_cast<const Box*>(one.a_boxes), one.a_count};
    const Boxes b{map_b, one.b_rank, reinterpret_cast<const Box*>(one.b_boxes), one.b_count};
    copy_boxes(shared_address(shared), a, b, one.copy_bytes);
  }
  const uint64_t* a_words = reinterpret_cast<const uint64_t*>(one.a_words);
  const uint64_t* b_words = reinterpret_cast<const uint64_t*>(one.b_words);
  Accumulator* out = reinterpret_cast<Accumulator*>(one.out);
  for (uint64_t m = 0; m < one.m; ++m) {
    for (uint64_t n = 0; n < one.n; ++n) {
      Accumulator d[N / 2];
#pragma unroll
      for (int r = 0; r < N / 2; ++r) d[r] = 0;
#pragma unroll
      for (int r = 0; r < N / 2; ++r) fence_operand(d[r]);
      for (uint64_t k = 0; k < one.k; ++k) {
        wgmma_arrive();
        Instruction::mma(d, a_words[m * one.k + k], b_words[n * one.k + k], k > 0);
        wgmma_commit();
        wgmma_wait();
#pragma unroll
        for (int r = 0; r < N / 2; ++r) fence_operand(d[r]);
      }
#pragma unroll
      for (int r = 0; r < N / 2; ++r)
        out[(m * 64 + accumulator_row(r)) * (one.n * N) + n * N + accumulator_column(r)] = d[r];
    }
  }
}
