// The sparse probe: wgmma.mma_async.sp with A, B and the metadata of every thread from the host, D back to it.
//
// The host says what registers and shared memory hold and reads what comes out; the kernels know no map.
#pragma once
#include "common.cuh"

// Rows of so many bytes in core matrices without swizzle: LBO 128 (next 16 bytes along K), SBO one row of them.
__device__ constexpr uint64_t rows_word(uint32_t start, uint32_t row_bytes) {
  return static_cast<uint64_t>(start >> 4) | uint64_t(128 >> 4) << 16 | uint64_t(8 * row_bytes >> 4) << 32;
}
constexpr int A_BYTES = 64 * 32, IMAGE_BYTES = A_BYTES + 64 * 64;

__device__ __forceinline__ uint32_t word_of(float value) { return __float_as_uint(value); }
__device__ __forceinline__ uint32_t word_of(int32_t value) { return static_cast<uint32_t>(value); }

// cases[count]: which image, and which metadata; images: A without its zeros, 32 bytes a row, and B, 64 bytes a row, as
// they lie in shared memory; registers[images][128][4]: A of an instruction that has it there; metadata[][128];
// out[count][128][accumulators].
template <class Instruction>
__device__ void sparse(const int2* cases, const uint8_t* images, const uint32_t* registers, const uint32_t* metadata,
                       uint32_t* out, int count) {
  constexpr int R = Instruction::accumulators;
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t base = shared_address(shared);
  for (int i = blockIdx.x; i < count; i += gridDim.x) {
    const int2 one = cases[i];
    __syncthreads();
    const uint4* image = reinterpret_cast<const uint4*>(images + static_cast<size_t>(one.x) * IMAGE_BYTES);
    for (int j = threadIdx.x; j < IMAGE_BYTES / 16; j += blockDim.x) reinterpret_cast<uint4*>(shared)[j] = image[j];
    fence_async();
    __syncthreads();
    typename Instruction::Accumulator d[R];
#pragma unroll
    for (int r = 0; r < R; ++r) d[r] = 0;
#pragma unroll
    for (int r = 0; r < R; ++r) fence_operand(d[r]);
    uint32_t a[4];
    for (int r = 0; r < 4; ++r) a[r] = registers[(static_cast<size_t>(one.x) * 128 + threadIdx.x) * 4 + r];
    const uint32_t e = metadata[static_cast<size_t>(one.y) * 128 + threadIdx.x];
    wgmma_arrive();
    if constexpr (Instruction::a_in_registers) {
      Instruction::mma(d, a, rows_word(base + A_BYTES, 64), e, 0);
    } else {
      Instruction::mma(d, rows_word(base, 32), rows_word(base + A_BYTES, 64), e, 0);
    }
    wgmma_commit();
    wgmma_wait();
#pragma unroll
    for (int r = 0; r < R; ++r) fence_operand(d[r]);
#pragma unroll
    for (int r = 0; r < R; ++r) out[(static_cast<size_t>(i) * 128 + threadIdx.x) * R + r] = word_of(d[r]);
  }
}
