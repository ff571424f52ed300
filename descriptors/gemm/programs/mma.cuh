// The kernel of mma.sync: stages in shared memory, fragments loaded from there by warps. The stages are filled by all
// threads, or by one that asks the copy engine.
#pragma once
#include "headers.cuh"

// ---------------------------------------------------------------------------------------------- what the plan says

#include "plan.cuh"

// ------------------------------------------------------------------------------------------------ what the PTX does

#include "barriers.cuh"
#if BARRIERS_USED
#include "copies.cuh"
#else
// Copies 16 bytes without waiting for them; zeros where nothing is to be read.
__device__ __forceinline__ void copy_16(uint32_t to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

#endif
#if SCALED
// Four factors of a row, as they lie in memory; zeros beyond.
__device__ __forceinline__ uint32_t scale_word(const uint8_t* from, int row, int rows, int k, int depth) {
  const bool inside = row < rows && k < depth;
  return inside ? *reinterpret_cast<const uint32_t*>(from + static_cast<size_t>(row) * depth + k) : 0;
}

#endif
#include "store_two.cuh"

// ------------------------------------------------------------------------------------------------------ the kernel

#if BARRIERS_USED
// One thread has the copy engine fill a stage; what lies beyond the matrix is zeros.
__device__ __forceinline__ void copy_stage(uint32_t base, int stage, const CUtensorMap* map_a, const CUtensorMap* map_b,
                                           int m0, int n0, int k0) {
  const uint32_t full = base + BARRIERS + 8 * stage;
  barrier_expect(full, STAGE_BYTES);
#pragma unroll
  for (int box = 0; box < A_BOXES; ++box) {
    const int mn = m0 + a_box_mn(box), k = k0 / A_PACKED + a_box_k(box);
    copy_box(base + A_BASE + stage * A_STAGE_BYTES + a_box_at(box), map_a, A_MN_MAJOR ? mn : k, A_MN_MAJOR ? k : mn,
             full);
  }
#pragma unroll
  for (int box = 0; box < B_BOXES; ++box) {
    const int mn = n0 + b_box_mn(box), k = k0 / B_PACKED + b_box_k(box);
    copy_box(base + B_BASE + stage * B_STAGE_BYTES + b_box_at(box), map_b, B_MN_MAJOR ? mn : k, B_MN_MAJOR ? k : mn,
             full);
  }
}

#else
// A thread's part of a stage; rows and columns beyond the matrix are zeros.
__device__ __forceinline__ void copy_stage(uint32_t base, int stage, const TypeA* a, const TypeB* b, int m0, int n0,
                                           int k0, int m, int n, int k) {
  const int thread = threadIdx.x;
  if (thread < A_COPY_THREADS)
#pragma unroll
    for (int i = 0; i < A_COPIES_MN * A_COPIES_K; ++i) {
      const int x = a_copy_mn(thread) + i % A_COPIES_MN * A_APART_MN;
      const int y = a_copy_k(thread) + i / A_COPIES_MN * A_APART_K;
      const bool inside = m0 + x < m && k0 + y < k;
      const uint32_t to = base + A_BASE + stage * A_STAGE_BYTES + a_byte(x, y);
      if (A_MN_MAJOR)
        copy_16(to, a + (inside ? (k0 + y) * static_cast<size_t>(m) + m0 + x : 0), inside);
      else
        copy_16(to, a + (inside ? (m0 + x) * static_cast<size_t>(k) + k0 + y : 0), inside);
    }
  if (thread < B_COPY_THREADS)
#pragma unroll
    for (int i = 0; i < B_COPIES_MN * B_COPIES_K; ++i) {
      const int x = b_copy_mn(thread) + i % B_COPIES_MN * B_APART_MN;
      const int y = b_copy_k(thread) + i / B_COPIES_MN * B_APART_K;
      const bool inside = n0 + x < n && k0 + y < k;
      const uint32_t to = base + B_BASE + stage * B_STAGE_BYTES + b_byte(x, y);
      if (B_MN_MAJOR)
        copy_16(to, b + (inside ? (k0 + y) * static_cast<size_t>(n) + n0 + x : 0), inside);
      else
        copy_16(to, b + (inside ? (n0 + x) * static_cast<size_t>(k) + k0 + y : 0), inside);
    }
}

#endif
// The fragments of a K block.
__device__ __forceinline__ void load_fragments(uint32_t (&a)[BLOCKS_M][4], uint32_t (&b)[BLOCKS_N / 2][4],
                                               uint32_t base, int stage, int kb) {
  const int thread = threadIdx.x;
#pragma unroll
  for (int i = 0; i < BLOCKS_M; ++i)
    load_a(a[i], base + A_BASE + stage * A_STAGE_BYTES, thread, i * A_PIECE, kb * MMA_K);
#pragma unroll
  for (int j = 0; j < BLOCKS_N / 2; ++j)
    load_b(b[j], base + B_BASE + stage * B_STAGE_BYTES, thread, j * B_PIECE, kb * MMA_K);
}

__global__ void __launch_bounds__(THREADS)
#if BARRIERS_USED
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, TypeC* c,
#else
    gemm(const TypeA* a, const TypeB* b, TypeC* c,
#endif
#if SCALED
         const uint8_t* sfa, const uint8_t* sfb,
#endif
         int m, int n, int k) {
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t base = shared_address(shared);
  const int rows = (m + TILE_M - 1) / TILE_M, steps = (k + TILE_K - 1) / TILE_K;
  const int m0 = blockIdx.x % rows * TILE_M, n0 = blockIdx.x / rows * TILE_N, thread = threadIdx.x;
  Register d[BLOCKS_M][BLOCKS_N][REGISTERS] = {};
  uint32_t fa[2][BLOCKS_M][4], fb[2][BLOCKS_N / 2][4];  // one is multiplied while the other is loaded
#if BARRIERS_USED
  if (base % ALIGNMENT) __trap();
  if (thread == 0) {
    for (int stage = 0; stage < STAGES; ++stage) barrier_init(base + BARRIERS + 8 * stage, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  for (int step = 0; step < STAGES - 1; ++step) {
    if (thread == 0 && step < steps) copy_stage(base, step, &map_a, &map_b, m0, n0, step * TILE_K);
  }
  uint32_t parity = 0;
#else
  for (int step = 0; step < STAGES - 1; ++step) {
    if (step < steps) copy_stage(base, step, a, b, m0, n0, step * TILE_K, m, n, k);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
#endif
  int stage = 0;
  for (int step = 0; step < steps; ++step) {
#if SCALED
    uint32_t scale_a[SCALE_WORDS][BLOCKS_M], scale_b[SCALE_WORDS][BLOCKS_N];
#pragma unroll
    for (int word = 0; word < SCALE_WORDS; ++word) {
      const int first = step * (TILE_K / VECTOR) + 4 * word;
#pragma unroll
      for (int i = 0; i < BLOCKS_M; ++i)
        scale_a[word][i] = scale_word(sfa, m0 + i * A_PIECE + sfa_row(thread), m, first, k / VECTOR);
#pragma unroll
      for (int j = 0; j < BLOCKS_N; ++j)
        scale_b[word][j] =
            scale_word(sfb, n0 + j / 2 * B_PIECE + j % 2 * 8 + sfb_row(thread), n, first, k / VECTOR);
    }
#endif
    // This step's copies are done, of all threads; and all have read the stage before, which is filled anew.
#if BARRIERS_USED
    barrier_wait(base + BARRIERS + 8 * stage, parity);
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
    __syncthreads();
    const int next = step + STAGES - 1, before = stage == 0 ? STAGES - 1 : stage - 1;
#if BARRIERS_USED
    if (thread == 0 && next < steps) copy_stage(base, before, &map_a, &map_b, m0, n0, next * TILE_K);
#else
    if (next < steps) copy_stage(base, before, a, b, m0, n0, next * TILE_K, m, n, k);
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
    load_fragments(fa[0], fb[0], base, stage, 0);
#pragma unroll
    for (int kb = 0; kb < BLOCKS_K; ++kb) {
      if (kb + 1 < BLOCKS_K) load_fragments(fa[(kb + 1) % 2], fb[(kb + 1) % 2], base, stage, kb + 1);
#pragma unroll
      for (int i = 0; i < BLOCKS_M; ++i)
#pragma unroll
        for (int j = 0; j < BLOCKS_N; ++j)
          multiply(d[i][j], fa[kb % 2][i], &fb[kb % 2][j / 2][2 * (j % 2)]
#if SCALED
                   , scale_a[kb * SCALES / 4][i], scale_b[kb * SCALES / 4][j], kb * SCALES % 4
#endif
          );
    }
#if BARRIERS_USED
    if (++stage == STAGES) stage = 0, parity ^= 1;
#else
    if (++stage == STAGES) stage = 0;
#endif
  }
#pragma unroll
  for (int i = 0; i < BLOCKS_M; ++i)
#pragma unroll
    for (int j = 0; j < BLOCKS_N; ++j)
#pragma unroll
      for (int value = 0; value < 4; value += 2) {
        const int x = m0 + i * A_PIECE + d_row(thread, value);
        const int y = n0 + j / 2 * B_PIECE + j % 2 * 8 + d_column(thread, value);
        if (x < m) store_two(c + static_cast<size_t>(x) * n + y, n - y, d[i][j], value);
      }
}

// -------------------------------------------------------------------------------------------------------- the host

#include "host.cuh"

// Rows are copied 16 bytes at a time.
inline bool strides_do(int M, int N, int K) {
  return (A_MN_MAJOR ? M : K) % A_ROW == 0 && (B_MN_MAJOR ? N : K) % B_ROW == 0
#if SCALED
         && K % (4 * VECTOR) == 0
#endif
         ;
}

// Starts the product: A, B and C in device memory.
inline void launch(const TypeA* a, const TypeB* b, TypeC* c,
#if SCALED
                   const uint8_t* sfa, const uint8_t* sfb,
#endif
                   int M, int N, int K, cudaStream_t stream = nullptr) {
#if BARRIERS_USED
  const CUtensorMap map_a = map_of_a(a, M, K / A_PACKED), map_b = map_of_b(b, N, K / B_PACKED);
#endif
  check(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES), "shared memory");
  const int tiles = ((M + TILE_M - 1) / TILE_M) * ((N + TILE_N - 1) / TILE_N);
#if BARRIERS_USED
  gemm<<<tiles, THREADS, SHARED_BYTES, stream>>>(map_a, map_b, c,
#else
  gemm<<<tiles, THREADS, SHARED_BYTES, stream>>>(a, b, c,
#endif
#if SCALED
                                                 sfa, sfb,
#endif
                                                 M, N, K);
  check(cudaGetLastError(), "launch");
}

#include "check.cuh"
