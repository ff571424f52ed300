// The race probe: how often a kernel is wrong that leaves out one step of the protocol of wgmma.
//
// Every round stores other numbers to shared memory by ordinary stores, multiplies, and compares every accumulator with
// the one value that all of them must have. What a round before has left behind is therefore seen.
#include "common.cuh"

enum class Left : int {
  NOTHING, PROXY_FENCE, WAIT, COMMIT, FENCE, WAIT_FOR_ONE, COPY_NOTHING, COPY_PROXY_FENCE, COPY_RENDEZVOUS, STAGE
};

constexpr int STEPS = 8, N = 64, R = N / 2, A_BYTES = 64 * 32;

// Rows of an operand in core matrices without swizzle: LBO 128 (next 16 bytes along K), SBO 256 (next 8 rows).
__device__ constexpr uint64_t rows_word(uint32_t start) {
  return static_cast<uint64_t>(start >> 4) | uint64_t(128 >> 4) << 16 | uint64_t(256 >> 4) << 32;
}

__device__ __forceinline__ void multiply(float (&d)[R], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,"
      "%30,%31}, %32, %33, 1, 1, 1, 0, 0;\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}

constexpr int B_BYTES = N * 32;

// Operands by cp.async out of a table that has those of every value, A's three first and then B's five.
__device__ __forceinline__ void copy_operands(uint32_t base, const uint8_t* table, int a, int b) {
  const uint8_t* of_a = table + (a - 1) * A_BYTES;
  const uint8_t* of_b = table + 3 * A_BYTES + (b - 1) * B_BYTES;
  for (int i = 16 * threadIdx.x; i < A_BYTES; i += 16 * blockDim.x)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(base + i), "l"(of_a + i) : "memory");
  for (int i = 16 * threadIdx.x; i < B_BYTES; i += 16 * blockDim.x)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(base + A_BYTES + i), "l"(of_b + i) : "memory");
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;\n" ::: "memory");
}

// wrong[0]: accumulators that were not as they must be; wrong[1]: rounds of a block in which there was one.
template <Left LEFT>
__device__ void race(unsigned long long* wrong, int rounds, int seed, const uint8_t* table) {
  constexpr bool COPIES =
      LEFT == Left::COPY_NOTHING || LEFT == Left::COPY_PROXY_FENCE || LEFT == Left::COPY_RENDEZVOUS;
  extern __shared__ __align__(1024) uint8_t shared[];
  __shared__ int bad;
  const uint32_t base = shared_address(shared);
  unsigned long long accumulators = 0, spoilt = 0;
  for (int round = 0; round < rounds; ++round) {
    const int a = 1 + (seed + round + blockIdx.x) % 3, b = 1 + (seed + round / 3 + blockIdx.x) % 5;
    if (threadIdx.x == 0) bad = 0;
    const __half2 of_a = __half2half2(__int2half_rn(a)), of_b = __half2half2(__int2half_rn(b));
    if constexpr (COPIES) {
      copy_operands(base, table, a, b);
    } else {
      for (int i = threadIdx.x; i < A_BYTES / 4; i += blockDim.x) reinterpret_cast<__half2*>(shared)[i] = of_a;
      for (int i = threadIdx.x; i < N * 8; i += blockDim.x) reinterpret_cast<__half2*>(shared + A_BYTES)[i] = of_b;
    }
    if constexpr (LEFT != Left::PROXY_FENCE && LEFT != Left::COPY_PROXY_FENCE) fence_async();
    if constexpr (LEFT != Left::COPY_RENDEZVOUS) __syncthreads();
    const float first = static_cast<float>(round % 7);
    float d[R];
#pragma unroll
    for (int r = 0; r < R; ++r) d[r] = first;
#pragma unroll
    for (int r = 0; r < R; ++r) fence_operand(d[r]);
    if constexpr (LEFT != Left::FENCE) wgmma_arrive();
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      multiply(d, rows_word(base), rows_word(base + A_BYTES));
      if constexpr (LEFT == Left::WAIT_FOR_ONE)
        if (step == 0) wgmma_commit();
    }
    if constexpr (LEFT != Left::COMMIT) wgmma_commit();
    if constexpr (LEFT == Left::STAGE) {  // the next operands, while these are read
      for (int i = threadIdx.x; i < A_BYTES / 4; i += blockDim.x) reinterpret_cast<__half2*>(shared)[i] = of_b;
      fence_async();
    }
    if constexpr (LEFT == Left::WAIT_FOR_ONE) {
      asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory");
    } else if constexpr (LEFT != Left::WAIT) {
      wgmma_wait();
    }
    const float expected = first + 16.0f * STEPS * a * b;
    int missed = 0;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      fence_operand(d[r]);
      missed += d[r] != expected;
    }
    // What is still in flight ends before the next round writes the operands, so that a round is wrong by itself alone.
    wgmma_commit();
    wgmma_wait();
    accumulators += missed;
    if (missed) bad = 1;
    __syncthreads();
    if (threadIdx.x == 0) spoilt += bad;
    __syncthreads();
  }
  atomicAdd(wrong, accumulators);
  if (threadIdx.x == 0) atomicAdd(wrong + 1, spoilt);
}

#define RACE(name, left)                                                                                       \
  extern "C" __global__ void __launch_bounds__(128) race_##name(                         \
      unsigned long long* wrong, int rounds, int seed, const uint8_t* table) {                                 \
    race<Left::left>(wrong, rounds, seed, table);                                                              \
  }
RACE(nothing, NOTHING)
RACE(proxy_fence, PROXY_FENCE)
RACE(wait, WAIT)
RACE(commit, COMMIT)
RACE(fence, FENCE)
RACE(wait_for_one, WAIT_FOR_ONE)
RACE(copy_nothing, COPY_NOTHING)
RACE(copy_proxy_fence, COPY_PROXY_FENCE)
RACE(copy_rendezvous, COPY_RENDEZVOUS)
RACE(stage, STAGE)
