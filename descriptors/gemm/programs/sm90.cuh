// The kernel of sm90: one thread has the copy engine fill the stages, the other warpgroups multiply.
#pragma once
#include "headers.cuh"

// ---------------------------------------------------------------------------------------------- what the plan says

#include "plan.cuh"

// ------------------------------------------------------------------------------------------------ what the PTX does

#include "barriers.cuh"
#include "copies.cuh"
#include "epilogue.cuh"
#if !STAGED
#include "store_two.cuh"
#endif
#include "host.cuh"

// ------------------------------------------------------------------------------------------------------ the kernel

#if CLUSTERED
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// A warp arrives at this barrier in every CTA that copies to this one: those of its row, and those of its column. What
// it has read is in registers or multiplied, so the arrival need order nothing at cluster scope: that would be a membar
// for each, and took a third to two thirds of the speed.
__device__ __forceinline__ void release(uint32_t barrier, int thread) {
  const int lane = thread % 32, rank = blockIdx.x % CTAS, x = rank % CLUSTER_M, y = rank / CLUSTER_M;
  const int other = lane - CLUSTER_N + (lane - CLUSTER_N >= x);
  const int peer = lane < CLUSTER_N ? x + CLUSTER_M * lane : other + CLUSTER_M * y;
  if (lane < PEERS)
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
        "}\n" ::"r"(barrier),
        "r"(peer)
        : "memory");
}

#endif
#if STAGED
__device__ __forceinline__ void warpgroup_sync(int warpgroup) {
  asm volatile("bar.sync %0, 128;" ::"r"(1 + warpgroup) : "memory");
}

#if D_F16
// Two neighbours of a row of C.
__device__ __forceinline__ uint32_t two_of_c(const Register (&d)[REGISTERS], int value) { return d[value / 2]; }

#elif !PIECE_32
// Two neighbours of a row of C.
__device__ __forceinline__ auto two_of_c(const Register (&d)[REGISTERS], int value) {
  return pair(d[value], d[value + 1]);
}

#endif
// What a thread holds of a piece, from that value of its accumulator on, as elements of C.
__device__ __forceinline__ void write_piece(uint32_t to, const Register (&d)[REGISTERS], int first, int thread) {
#if STORED_MATRICES
#pragma unroll
  for (int value = 0; value < PIECE_VALUES; value += 8) {
    uint32_t v[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) v[i] = two_of_c(d, first + value + 2 * i);
    const uint32_t at = piece_at(thread % 16 + thread / 32 * 16, thread % 32 / 16 * 8 + value * 2);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to + at), "r"(v[0]),
                 "r"(v[1]), "r"(v[2]), "r"(v[3])
                 : "memory");
  }
#else
#pragma unroll
  for (int value = 0; value < PIECE_VALUES; value += 2) {
    const uint32_t at = to + piece_at(d_row(thread, value), d_column(thread, value));
#if D_S32
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(d[first + value]), "r"(d[first + value + 1])
                 : "memory");
#elif PIECE_32
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(d[first + value]), "f"(d[first + value + 1])
                 : "memory");
#elif PIECE_16
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(two_of_c(d, first + value)) : "memory");
#else
    asm volatile("st.shared.b16 [%0], %1;" ::"r"(at), "h"(two_of_c(d, first + value)) : "memory");
#endif
  }
#endif
}

#endif
#if SPARSE
// A thread's word for 64 rows and COVERED elements along K; beyond the edges of A codes of what is zero.
__device__ __forceinline__ uint32_t metadata_word(const uint32_t* metadata, int rows, int pack, int m, int k,
                                                  int thread) {
  const int packs = (k + COVERED - 1) / COVERED;
  if (64 * rows >= m || pack >= packs) return 0x44444444;
  return __ldg(metadata + (static_cast<size_t>(rows) * packs + pack) * 128 + thread);
}

#elif PROMOTED
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

#endif
// Output tiles in groups of rows of tiles, of one height, GROUP at most: those that run at one time share rows of A and
// columns of B in L2.
__device__ __forceinline__ void tile_at(int index, int rows, int columns, int& row, int& column) {
#if SPLIT
  index %= rows * columns;
#endif
  const int groups = (rows + GROUP - 1) / GROUP, most = (rows + groups - 1) / groups;
  const int group = index / (most * columns), first = group * most;
  const int height = min(most, rows - first), rest = index - first * columns;
  row = first + rest % height;
  column = rest / height;
#if CLUSTERED
  const int rank = blockIdx.x % CTAS;
  row = row * CLUSTER_M + rank % CLUSTER_M;
  column = column * CLUSTER_N + rank / CLUSTER_M;
#endif
}

// One thread fills the stages, over and over: a stage is free once every warp that multiplies has arrived at its empty
// barrier.
__device__ __forceinline__ void produce(uint32_t base, const CUtensorMap* map_a, const CUtensorMap* map_b, int rows,
                                        int columns, int steps
#if CONVOLUTION
                                        , const Convolution& shape
#endif
) {
  int stage = 0;
  uint32_t parity = 1;
  for (int index = blockIdx.x / CTAS; index < rows * columns * SPLITS; index += gridDim.x / CTAS) {
    int row, column;
    tile_at(index, rows, columns, row, column);
#if CLUSTERED
    const int rank = blockIdx.x % CTAS;
    const uint32_t a_mask = ((1 << CTAS) - 1) / ((1 << CLUSTER_M) - 1) << rank % CLUSTER_M;
    const uint32_t b_mask = ((1 << CLUSTER_M) - 1) << rank / CLUSTER_M * CLUSTER_M;
#endif
#if SPLIT
    const int part = index / (rows * columns), first = steps * part / SPLITS, end = steps * (part + 1) / SPLITS;
    for (int step = first; step < end; ++step) {
#else
    for (int step = 0; step < steps; ++step) {
#endif
      const uint32_t full = base + BARRIERS + 8 * stage;
      barrier_wait(full + 8 * STAGES, parity);
      barrier_expect(full, STAGE_BYTES);
#if CONVOLUTION
      // A step is a tap and as many channels as a stage has of K.
      const int blocks = steps / TAPS, tap = step / blocks, channel = step % blocks * TILE_K;
#endif
#if CLUSTERED
      for (int i = 0; i < A_BOXES / CLUSTER_N; ++i) {
        const int box = rank / CLUSTER_M * (A_BOXES / CLUSTER_N) + i;
#else
#pragma unroll(A_BOXES <= 4 ? A_BOXES : 1)
      for (int box = 0; box < A_BOXES; ++box) {
#endif
#if CONVOLUTION
        copy_pixels(base + A_BASE + stage * A_STAGE_BYTES + a_box_at(box), map_a, channel + a_box_k(box),
                    row * TILE_M + a_box_mn(box), tap, shape, full
#else
        const int mn = row * TILE_M + a_box_mn(box), k = step * (TILE_K / K_PER_A) + a_box_k(box);
        copy_box(base + A_BASE + stage * A_STAGE_BYTES + a_box_at(box), map_a, A_MN_MAJOR ? mn : k,
                 A_MN_MAJOR ? k : mn, full
#endif
#if CLUSTERED
                 , a_mask
#endif
        );
      }
#if CLUSTERED
      for (int i = 0; i < B_BOXES / CLUSTER_M; ++i) {
        const int box = rank % CLUSTER_M * (B_BOXES / CLUSTER_M) + i;
#else
#pragma unroll(B_BOXES <= 4 ? B_BOXES : 1)
      for (int box = 0; box < B_BOXES; ++box) {
#endif
#if CONVOLUTION
        copy_filters(base + B_BASE + stage * B_STAGE_BYTES + b_box_at(box), map_b, channel + b_box_k(box),
                     column * TILE_N + b_box_mn(box), tap, full
#else
        const int mn = column * TILE_N + b_box_mn(box), k = step * TILE_K + b_box_k(box);
        copy_box(base + B_BASE + stage * B_STAGE_BYTES + b_box_at(box), map_b, B_MN_MAJOR ? mn : k,
                 B_MN_MAJOR ? k : mn, full
#endif
#if CLUSTERED
                 , b_mask
#endif
        );
      }
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
  }
}

// A warp says that it has read a stage.
__device__ __forceinline__ void free_stage(uint32_t base, int stage, int thread) {
#if CLUSTERED
  release(base + BARRIERS + 8 * (STAGES + stage), thread);
#else
  if (thread % 32 == 0) barrier_arrive(base + BARRIERS + 8 * (STAGES + stage));
#endif
}

__device__ __forceinline__ void keep_all(Register (&d)[BLOCKS_M * BLOCKS_N][REGISTERS]) {
#pragma unroll
  for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) keep(d[block]);
}

// A warpgroup multiplies its M blocks of each tile, and stores them.
__device__ __forceinline__ void consume(uint32_t base, int warpgroup, int m, int n, int k, int rows, int columns,
                                        int steps,
#if SPARSE
                                        const uint32_t* metadata,
#elif PROMOTED
                                        const float* a_scales, const float* b_scales,
#endif
#if STAGED
                                        const CUtensorMap* map_c
#else
                                        TypeC* c
#endif
#if FINISHED
                                        , const Terms& terms
#endif
) {
  const int thread = threadIdx.x % 128;
  int stage = 0;
#if STAGED
  int turn = 0;
#endif
  uint32_t parity = 0;
  for (int index = blockIdx.x / CTAS; index < rows * columns * SPLITS; index += gridDim.x / CTAS) {
    Register d[BLOCKS_M * BLOCKS_N][REGISTERS];
#if SPARSE || PROMOTED
    int row, column;
    tile_at(index, rows, columns, row, column);
#endif
#if PROMOTED
    float sum[BLOCKS_M * BLOCKS_N][REGISTERS] = {};
#endif
#if !EARLY_RELEASE
    int before = -1;
#endif
#if SPLIT
    const int part = index / (rows * columns), first = steps * part / SPLITS, end = steps * (part + 1) / SPLITS;
    for (int step = first; step < end; ++step) {
#else
    for (int step = 0; step < steps; ++step) {
#endif
      const uint32_t full = base + BARRIERS + 8 * stage;
#if SPARSE
      uint32_t e[BLOCKS_M][PACKS];
#pragma unroll
      for (int i = 0; i < BLOCKS_M; ++i) {
#pragma unroll
        for (int pack = 0; pack < PACKS; ++pack)
          e[i][pack] = metadata_word(metadata, row * (TILE_M / 64) + i * WARPGROUPS + warpgroup, step * PACKS + pack,
                                     m, k, thread);
      }
#endif
      barrier_wait(full, parity);
      const uint64_t b = B_WORD | ((base + B_BASE + stage * B_STAGE_BYTES) & 0x3ffff) / 16;
#if LOADED_A
      uint32_t a[BLOCKS_M][BLOCKS_K][4];
#pragma unroll
      for (int i = 0; i < BLOCKS_M; ++i) {
#pragma unroll
        for (int kb = 0; kb < BLOCKS_K; ++kb)
          load_a(a[i][kb], base + A_BASE + stage * A_STAGE_BYTES, (i * WARPGROUPS + warpgroup) * MMA_M,
                 kb * (TILE_K / K_PER_A / BLOCKS_K), thread);
      }
#else
      const uint32_t own = A_BASE + 16 * a_mn_step(warpgroup);
      const uint64_t a = A_WORD | ((base + own + stage * A_STAGE_BYTES) & 0x3ffff) / 16;
#endif
#if PROMOTED
      for (int group = 0; group < GROUPS; ++group) {
        float a_factors[BLOCKS_M][2], b_factors[BLOCKS_N];
        const int depth = step * GROUPS + group;
#pragma unroll
        for (int i = 0; i < BLOCKS_M; ++i) {
#pragma unroll
          for (int half = 0; half < 2; ++half)
            a_factors[i][half] = a_scale(a_scales, row * TILE_M + (i * WARPGROUPS + warpgroup) * MMA_M +
                                                       d_row(thread, 2 * half), depth, m, k);
        }
#pragma unroll
        for (int j = 0; j < BLOCKS_N; ++j)
          b_factors[j] = b_scale(b_scales, column * TILE_N + j * MMA_N, depth, n, k);
        keep_all(d);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int part = 0; part < GROUP_BLOCKS; ++part) {
          const int kb = group * GROUP_BLOCKS + part;
#pragma unroll
          for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) {
            const int i = block % BLOCKS_M, j = block / BLOCKS_M;
            multiply(d[block],
#if LOADED_A
                     a[i][kb],
#else
                     a + a_mn_step(i * WARPGROUPS) + a_k_step(kb),
#endif
                     b + b_mn_step(j) + b_k_step(kb), part > 0);
          }
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        keep_all(d);
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        keep_all(d);
        if (group == GROUPS - 1) free_stage(base, stage, thread);
#pragma unroll
        for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) {
          const int i = block % BLOCKS_M, j = block / BLOCKS_M;
#pragma unroll
          for (int value = 0; value < REGISTERS; ++value)
            sum[block][value] += d[block][value] * (a_factors[i][value / 2 % 2] * b_factors[j]);
        }
      }
#else
      keep_all(d);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int kb = 0; kb < BLOCKS_K; ++kb) {
#pragma unroll
        for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) {
          const int i = block % BLOCKS_M, j = block / BLOCKS_M;
#if SPLIT
          const int more = step - first + kb > 0;
#else
          const int more = step + kb > 0;
#endif
#if LOADED_A
          const uint32_t(&a_block)[4] = a[i][kb];
#else
          const uint64_t a_block = a + a_mn_step(i * WARPGROUPS) + a_k_step(kb);
#endif
          const uint64_t b_block = b + b_mn_step(j) + b_k_step(kb);
#if SELECTED
          if (kb % SELECTORS == 0) multiply<0>(d[block], a_block, b_block, e[i][kb / SELECTORS], more);
          else multiply<1>(d[block], a_block, b_block, e[i][kb / SELECTORS], more);
#elif SPARSE
          multiply(d[block], a_block, b_block, e[i][kb], more);
#else
          multiply(d[block], a_block, b_block, more);
#endif
        }
      }
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      keep_all(d);
#if EARLY_RELEASE
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      free_stage(base, stage, thread);
#else
      // All groups but the newest are done: the stage before this one has been read.
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      if (before >= 0) free_stage(base, before, thread);
      before = stage;
#endif
#endif
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    keep_all(d);
#if PROMOTED
    // The sums take the places of the accumulators, from where they are stored.
#pragma unroll
    for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) {
#pragma unroll
      for (int value = 0; value < REGISTERS; ++value) d[block][value] = sum[block][value];
    }
#elif !EARLY_RELEASE
    if (before >= 0) free_stage(base, before, thread);
#endif
#if !SPARSE && !PROMOTED
    int row, column;
    tile_at(index, rows, columns, row, column);
#endif
#pragma unroll
    for (int block = 0; block < BLOCKS_M * BLOCKS_N; ++block) {
      const int i = block % BLOCKS_M * WARPGROUPS + warpgroup, j = block / BLOCKS_M;
#if FINISHED
#pragma unroll
      for (int value = 0; value < REGISTERS; ++value)
        d[block][value] = finished(d[block][value], row * TILE_M + i * MMA_M + d_row(thread, value),
                                   column * TILE_N + j * MMA_N + d_column(thread, value), terms);
#endif
#if STAGED
#pragma unroll
      for (int piece = 0; piece < MMA_N / PIECE_COLUMNS; ++piece) {
        const uint32_t to = base + PIECES + (warpgroup * 2 + turn) * PIECE_BYTES;
        turn ^= 1;
        // The piece before the last has been taken, so that its place is free.
        if (thread == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        warpgroup_sync(warpgroup);
        write_piece(to, d[block], piece * PIECE_VALUES, thread);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        warpgroup_sync(warpgroup);
        if (thread == 0)
          store_box(map_c, to, column * TILE_N + j * MMA_N + piece * PIECE_COLUMNS, row * TILE_M + i * MMA_M
#if SPLIT
                    , part
#endif
          );
      }
#else
#pragma unroll
      for (int value = 0; value < VALUES; value += 2) {
        const int x = row * TILE_M + i * MMA_M + d_row(thread, value);
        const int y = column * TILE_N + j * MMA_N + d_column(thread, value);
        if (x < m) store_two(c + static_cast<size_t>(x) * n + y, n - y, d[block], value);
      }
#endif
    }
  }
#if STAGED
  if (thread == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

__global__ void __launch_bounds__(THREADS, 1)
#if CLUSTERED
    __cluster_dims__(CTAS, 1, 1)
#endif
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
#if SPARSE
         const uint32_t* metadata,
#elif PROMOTED
         const float* a_scales, const float* b_scales,
#endif
#if STAGED
         const __grid_constant__ CUtensorMap map_c,
#else
         TypeC* c,
#endif
#if FINISHED
         Terms terms,
#endif
#if CONVOLUTION
         int m, int n, int k, Convolution shape) {
#else
         int m, int n, int k) {
#endif
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t base = shared_address(shared);
  const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  const int rows = (m + SPAN_M - 1) / SPAN_M, columns = (n + SPAN_N - 1) / SPAN_N;
#if CONVOLUTION
  const int steps = TAPS * ((k + TILE_K - 1) / TILE_K);
#else
  const int steps = (k + TILE_K - 1) / TILE_K;
#endif
  if (base % ALIGNMENT) __trap();
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      barrier_init(base + BARRIERS + 8 * stage, 1);
#if CLUSTERED
      barrier_init(base + BARRIERS + 8 * (STAGES + stage), 4 * WARPGROUPS * PEERS);
#else
      barrier_init(base + BARRIERS + 8 * (STAGES + stage), 4 * WARPGROUPS);
#endif
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
#if CLUSTERED
  cluster_sync();
#else
  __syncthreads();
#endif
  if (warpgroup == WARPGROUPS) {
#if REALLOCATED
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COPY_REGISTERS));
#endif
    if (threadIdx.x == 128 * WARPGROUPS)
      produce(base, &map_a, &map_b, rows, columns, steps
#if CONVOLUTION
              , shape
#endif
      );
  } else {
#if REALLOCATED
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(MULTIPLY_REGISTERS));
#endif
    consume(base, warpgroup, m, n, k, rows, columns, steps,
#if SPARSE
            metadata,
#elif PROMOTED
            a_scales, b_scales,
#endif
#if STAGED
            &map_c
#else
            c
#endif
#if FINISHED
            , terms
#endif
    );
  }
#if CLUSTERED
  // No CTA ends while another may still copy to it, or arrive at its barriers.
  cluster_sync();
#endif
}

// -------------------------------------------------------------------------------------------------------- the host

// The copy engine takes rows of whole 16 bytes alone.
inline bool strides_do(int M, int N, int K) {
  return (A_MN_MAJOR ? M : K / K_PER_A) * sizeof(TypeA) % 16 == 0 && (B_MN_MAJOR ? N : K) * sizeof(TypeB) % 16 == 0
#if SPARSE
         && K % GROUP_K == 0
#endif
#if STAGED
         && N * PIECE_BITS / 8 % 16 == 0
#endif
#if SPLIT && CONVOLUTION
         && TAPS * ((K + TILE_K - 1) / TILE_K) >= SPLITS
#elif SPLIT
         && K > (SPLITS - 1) * TILE_K
#endif
         ;
}

// Starts the product: A, B and C in device memory, C all of TypeC; parts along K in SPLITS x M x N of parts.
inline void launch(const TypeA* a, const TypeB* b,
#if SPARSE
                   const uint32_t* metadata,
#elif PROMOTED
                   const float* a_scales, const float* b_scales,
#endif
                   TypeC* c,
#if SPLIT
                   Register* parts,
#endif
#if TERMS
                   Terms terms,
#endif
#if CONVOLUTION
                   const Convolution& shape, cudaStream_t stream = nullptr) {
  const int M = shape.pixels(), N = shape.filters, K = shape.channels;
  const CUtensorMap map_a = map_of_pixels(a, shape), map_b = map_of_filters(b, shape);
#else
                   int M, int N, int K, cudaStream_t stream = nullptr) {
  const CUtensorMap map_a = map_of_a(a, M, K / K_PER_A), map_b = map_of_b(b, N, K);
#endif
#if SPLIT
  const CUtensorMap map_c = map_of_c(parts, M, N);
#elif STAGED
  const CUtensorMap map_c = map_of_c(c, M, N);
#endif
#if TERMS
  terms.m = M, terms.n = N;
#endif
  int device = 0, processors = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  check(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES), "cudaFuncSetAttribute");
  const int tiles = SPLITS * ((M + SPAN_M - 1) / SPAN_M) * ((N + SPAN_N - 1) / SPAN_N);
  const int blocks = CTAS * (tiles < processors / CTAS ? tiles : processors / CTAS);
  gemm<<<blocks, THREADS, SHARED_BYTES, stream>>>(map_a, map_b,
#if SPARSE
      metadata,
#elif PROMOTED
      a_scales, b_scales,
#endif
#if STAGED
      map_c,
#else
      c,
#endif
#if FINISHED
      terms,
#endif
      M, N, K
#if CONVOLUTION
      , shape
#endif
  );
#if SPLIT
  add_parts<<<2 * processors, 256, 0, stream>>>(parts, c, static_cast<size_t>(M) * N
#if TERMS
      , terms
#endif
  );
#endif
  check(cudaGetLastError(), "launch");
}

#include "check.cuh"
