// The kernel of sm100. Six warps: four read the accumulators, each its own lanes, one fills the stages, one multiplies.
// Of a pair of CTAs each fills its own shared memory, and the leader multiplies for both.
#pragma once
#include "headers.cuh"

// ---------------------------------------------------------------------------------------------- what the plan says

#include "plan.cuh"

// ------------------------------------------------------------------------------------------------ what the PTX does

#include "barriers.cuh"
#include "copies.cuh"
#include "epilogue.cuh"

// The word of an operand so many 16-byte units on, wherever the CTA's shared memory begins.
__device__ __forceinline__ uint64_t placed(uint64_t word, uint32_t smem, uint32_t units) {
  return (word & ~0x3fffull) | ((word + (smem >> 4) + units) & 0x3fffull);
}

// Arrives when all tcgen05.mma and tcgen05.cp issued so far are done; it is a fence before the arrival too.
__device__ __forceinline__ void commit(uint32_t barrier) {
#if PAIR
  asm volatile(
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(barrier),
      "h"(static_cast<uint16_t>(3))
      : "memory");
#else
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory");
#endif
}

__device__ __forceinline__ void fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
__device__ __forceinline__ void fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }

// All threads of the CTA, or of both of a pair, with what they did to tensor memory and to barriers.
__device__ __forceinline__ void together() {
  fence_before();
#if PAIR
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
  fence_after();
}

// The barrier of the leader of a pair has the same address but for the bit that tells the CTAs of a pair apart.
__device__ __forceinline__ uint32_t leader(uint32_t barrier) {
#if PAIR
  return barrier & 0xfeffffffu;
#else
  return barrier;
#endif
}

#if TURNS
// A warp has what the next tile is multiplied into: it arrives at the barrier, of the leader of a pair.
__device__ __forceinline__ void set_free(uint32_t barrier, uint32_t lane) {
  fence_before();
  __syncwarp();
  if (lane == 0)
#if PAIR
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, 0;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n"
        "}" ::"r"(barrier)
        : "memory");
#else
    barrier_arrive(barrier);
#endif
}

__device__ __forceinline__ void free_wait(uint32_t barrier, uint32_t parity) {
#if PAIR
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
#else
  barrier_wait(barrier, parity);
#endif
}

#endif
#if FINISHED
// The sums that a lane has of a row, from a column on, as C has them.
__device__ __forceinline__ void finish(uint32_t (&v)[VALUES], uint32_t row, uint32_t column, const Terms& terms) {
#pragma unroll
  for (uint32_t i = 0; i < VALUES; ++i) v[i] = __float_as_uint(finished(__uint_as_float(v[i]), row, column + i, terms));
}

#endif
#if STAGED
// The elements of a row from a value on, as a register of C has them.
__device__ __forceinline__ uint32_t word(const uint32_t (&v)[VALUES], uint32_t i) {
#if PIECE_32
  return v[i];
#elif D_F16
  return (v[i] & 0xffff) | v[i + 1] << 16;
#elif PIECE_16
  return pair(__uint_as_float(v[i]), __uint_as_float(v[i + 1]));
#else
  return pair(__uint_as_float(v[i]), __uint_as_float(v[i + 1])) |
         uint32_t{pair(__uint_as_float(v[i + 2]), __uint_as_float(v[i + 3]))} << 16;
#endif
}

// What the lanes of a warp have of their rows, from a row and a column on, to C: a piece is taken while the next is
// written.
__device__ __forceinline__ void store_rows(const uint32_t (&v)[VALUES], uint32_t pieces, uint32_t& slot,
                                           const CUtensorMap* map, uint32_t row, uint32_t column
#if SPLIT
                                           , uint32_t part
#endif
) {
  const uint32_t lane = threadIdx.x % 32;
  constexpr uint32_t each = 32 / PIECE_BITS;  // elements of a register
#pragma unroll
  for (uint32_t first = 0; first < VALUES; first += PIECE_COLUMNS) {
    const uint32_t to = pieces + slot * PIECE_BYTES;
    slot ^= 1;
    // The piece before the last has been taken, so that its place is free.
    if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncwarp();
#pragma unroll
    for (uint32_t at = 0; at < PIECE_COLUMNS; at += 4 * each) {
      const uint32_t i = first + at;
      if (lane < PIECE_ROWS)
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to + piece_at(lane, at)), "r"(word(v, i)),
                     "r"(word(v, i + each)), "r"(word(v, i + 2 * each)), "r"(word(v, i + 3 * each))
                     : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (lane == 0)
      store_box(map, to, column + first, row
#if SPLIT
                , part
#endif
      );
  }
}

#endif
// ------------------------------------------------------------------------------------------------------ the kernel

__global__ void __launch_bounds__(THREADS)
#if PAIR
    __cluster_dims__(CTA_GROUP, 1, 1)
#endif
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
#if SPARSE
         const __grid_constant__ CUtensorMap map_e,
#endif
#if SCALED
         const __grid_constant__ CUtensorMap map_sfa, const __grid_constant__ CUtensorMap map_sfb,
#endif
#if STAGED
         const __grid_constant__ CUtensorMap map_c,
#else
         TypeC* c,
#endif
#if FINISHED
         const __grid_constant__ Terms terms,
#endif
#if TURNS
         uint32_t rows, uint32_t columns, uint32_t depth) {
#elif STAGED
         uint32_t k_tiles) {
#else
         uint32_t rows, uint32_t columns, uint32_t k_tiles) {
#endif
  extern __shared__ __align__(1024) uint8_t memory[];
  const uint32_t smem = shared_address(memory), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint32_t rank = blockIdx.x % CTA_GROUP;
#if CONVOLUTION
  constexpr Convolution shape = {IMAGES, HEIGHT, WIDTH, CHANNELS, FILTERS};
#endif
#if TURNS
  const uint32_t tiles_m = (rows + TILE_M - 1) / TILE_M, tiles_n = (columns + TILE_N - 1) / TILE_N;
  const uint32_t tiles = tiles_m * tiles_n * SPLITS, k_tiles = (depth + TILE_K - 1) / TILE_K;
#else
  const uint32_t tile_m = blockIdx.x / CTA_GROUP, tile_n = blockIdx.y;
#if SPLIT
  const uint32_t part = blockIdx.z, first = k_tiles * part / SPLITS, end = k_tiles * (part + 1) / SPLITS;
#endif
#endif
  if (smem % 1024) __trap();  // the words count on it
#if SPLIT
  if (k_tiles < SPLITS) __trap();  // each part has a step
#endif
  if (threadIdx.x == 0) {
    for (uint32_t s = 0; s < STAGES; ++s) {
      barrier_init(smem + FULL + 8 * s, 1);
      barrier_init(smem + EMPTY + 8 * s, 1);
    }
#if TURNS
    // Of both sets: one commit each, and the arrival of every warp that reads.
    for (uint32_t i = 0; i < 2; ++i) {
      barrier_init(smem + DONE + 8 * i, 1);
      barrier_init(smem + FREE + 8 * i, 4 * CTA_GROUP);
    }
#else
    barrier_init(smem + DONE, 1);
#endif
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  if (warp == 5) allocate(smem + TMEM);
  together();
  uint32_t tmem;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(tmem) : "r"(smem + TMEM));

#if TURNS
  // CTAs, or pairs, take tiles in turn, and every role walks the same ones: a CTA begins at its own number and goes on
  // by as many as run. Stages go round and round, whichever tile they are of.
  if (warp == 4 && lane == 0) {
    uint32_t s = 0, phase = 0;
    for (uint32_t tile = blockIdx.x / CTA_GROUP; tile < tiles; tile += gridDim.x / CTA_GROUP) {
#if SPLIT
      const uint32_t tile_m = tile % tiles_m, tile_n = tile / tiles_m % tiles_n;
      const uint32_t part = tile / (tiles_m * tiles_n);
      const uint32_t first = k_tiles * part / SPLITS, end = k_tiles * (part + 1) / SPLITS;
      for (uint32_t t = first; t < end; ++t) {
#else
      const uint32_t tile_m = tile % tiles_m, tile_n = tile / tiles_m;
      for (uint32_t t = 0; t < k_tiles; ++t) {
#endif
        barrier_wait(smem + EMPTY + 8 * s, phase ^ 1);
        const uint32_t full = leader(smem + FULL + 8 * s);
        if (rank == 0) barrier_expect(full, CTA_GROUP * STAGE_BYTES);
#include "plan_copies.cuh"
        if (++s == STAGES) s = 0, phase ^= 1;
      }
    }
  } else if (warp == 5 && lane == 0 && rank == 0) {
    uint32_t s = 0, phase = 0;
    for (uint32_t tile = blockIdx.x / CTA_GROUP, turn = 0; tile < tiles; tile += gridDim.x / CTA_GROUP, ++turn) {
      const uint32_t set = tmem + turn % 2 * SET_STEP;
      free_wait(smem + FREE + 8 * (turn % FREES), turn / FREES % 2 ^ 1);
      fence_after();
#if SPLIT
      const uint32_t part = tile / (tiles_m * tiles_n);
      const uint32_t first = k_tiles * part / SPLITS, end = k_tiles * (part + 1) / SPLITS;
      for (uint32_t t = first; t < end; ++t) {
#else
      for (uint32_t t = 0; t < k_tiles; ++t) {
#endif
        barrier_wait(smem + FULL + 8 * s, phase);
        fence_after();
#include "plan_multiplications.cuh"
        commit(smem + EMPTY + 8 * s);
        if (++s == STAGES) s = 0, phase ^= 1;
      }
      commit(smem + DONE + 8 * (turn % 2));
    }
  } else if (warp < 4) {
#if STAGED
    const uint32_t pieces = smem + PIECES + warp * (2 * PIECE_BYTES);
    uint32_t slot = 0;
#endif
    for (uint32_t tile = blockIdx.x / CTA_GROUP, turn = 0; tile < tiles; tile += gridDim.x / CTA_GROUP, ++turn) {
#if SPLIT
      const uint32_t tile_m = tile % tiles_m, tile_n = tile / tiles_m % tiles_n;
      const uint32_t part = tile / (tiles_m * tiles_n);
#else
      const uint32_t tile_m = tile % tiles_m, tile_n = tile / tiles_m;
#endif
      const uint32_t set = tmem + (warp << 21) + turn % 2 * SET_STEP;
      const uint32_t free = smem + FREE + 8 * (turn % FREES);
      barrier_wait(smem + DONE + 8 * (turn % 2), turn / 2 % 2);
      __syncwarp();
      fence_after();
#include "plan_stores.cuh"
    }
#if STAGED
    // Shared memory must not be given back before it is read.
    if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
  }
#else
  if (warp == 4 && lane == 0) {
#if SPLIT
    for (uint32_t t = first, s = 0, phase = 0; t < end; ++t) {
#else
    for (uint32_t t = 0, s = 0, phase = 0; t < k_tiles; ++t) {
#endif
      barrier_wait(smem + EMPTY + 8 * s, phase ^ 1);
      const uint32_t full = leader(smem + FULL + 8 * s);
      if (rank == 0) barrier_expect(full, CTA_GROUP * STAGE_BYTES);
#include "plan_copies.cuh"
      if (++s == STAGES) s = 0, phase ^= 1;
    }
  } else if (warp == 5 && lane == 0 && rank == 0) {
#if SPLIT
    for (uint32_t t = first, s = 0, phase = 0; t < end; ++t) {
#else
    for (uint32_t t = 0, s = 0, phase = 0; t < k_tiles; ++t) {
#endif
      barrier_wait(smem + FULL + 8 * s, phase);
      fence_after();
#include "plan_multiplications.cuh"
      commit(smem + EMPTY + 8 * s);
      if (++s == STAGES) s = 0, phase ^= 1;
    }
    commit(smem + DONE);
  } else if (warp < 4) {
    barrier_wait(smem + DONE, 0);
    __syncwarp();
    fence_after();
#if STAGED
    const uint32_t pieces = smem + PIECES + warp * (2 * PIECE_BYTES);
    uint32_t slot = 0;
#endif
#include "plan_stores.cuh"
#if STAGED
    // Shared memory must not be given back before it is read.
    if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
  }
#endif
  __syncwarp();
  together();
  if (warp == 5) deallocate(tmem);
}

// -------------------------------------------------------------------------------------------------------- the host

#include "sm100_check.cuh"
