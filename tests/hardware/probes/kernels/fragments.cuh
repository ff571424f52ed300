// The fragment probe: what each register of each thread holds, of wgmma, mma.sync, ldmatrix and stmatrix.
//
// The host says what registers and shared memory hold and reads what comes out; the kernels know no map.
#pragma once
#include "common.cuh"

// Rows of so many bytes in core matrices without swizzle: LBO 128 (next 16 bytes along K), SBO one row of them.
__device__ constexpr uint64_t rows_word(uint32_t start, uint32_t row_bytes) {
  return static_cast<uint64_t>(start >> 4) | uint64_t(128 >> 4) << 16 | uint64_t(8 * row_bytes >> 4) << 32;
}
constexpr int A_BYTES = 64 * 32;

__device__ __forceinline__ uint32_t word_of(float value) { return __float_as_uint(value); }
__device__ __forceinline__ uint32_t word_of(int32_t value) { return static_cast<uint32_t>(value); }
__device__ __forceinline__ uint32_t word_of(uint32_t value) { return value; }
__device__ __forceinline__ void fence_operand(uint32_t& value) { asm volatile("" : "+r"(value)::"memory"); }

// One instruction: an image of A, 32 bytes a row, and B as they lie in shared memory; registers[128][4]: A of an
// instruction that has it there; out[128][accumulators]; the metadata of every thread, of a sparse A.
template <class Instruction, int B_ROW_BYTES, class... Metadata>
__device__ void issue(const uint8_t* image, int image_bytes, const uint32_t* registers, uint32_t* out,
                      Metadata... metadata) {
  constexpr int R = Instruction::accumulators;
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t base = shared_address(shared);
  __syncthreads();
  for (int j = threadIdx.x; j < image_bytes / 16; j += blockDim.x)
    reinterpret_cast<uint4*>(shared)[j] = reinterpret_cast<const uint4*>(image)[j];
  fence_async();
  __syncthreads();
  typename Instruction::Accumulator d[R];
#pragma unroll
  for (int r = 0; r < R; ++r) d[r] = 0;
#pragma unroll
  for (int r = 0; r < R; ++r) fence_operand(d[r]);
  uint32_t a[4];
  for (int r = 0; r < 4; ++r) a[r] = registers[threadIdx.x * 4 + r];
  wgmma_arrive();
  if constexpr (Instruction::a_in_registers) {
    Instruction::mma(d, a, rows_word(base + A_BYTES, B_ROW_BYTES), metadata..., 0);
  } else {
    Instruction::mma(d, rows_word(base, 32), rows_word(base + A_BYTES, B_ROW_BYTES), metadata..., 0);
  }
  wgmma_commit();
  wgmma_wait();
#pragma unroll
  for (int r = 0; r < R; ++r) fence_operand(d[r]);
#pragma unroll
  for (int r = 0; r < R; ++r) out[threadIdx.x * R + r] = word_of(d[r]);
}

// images[count], registers[count], out[count], as one instruction has them.
template <class Instruction>
__device__ void held(const uint8_t* images, const uint32_t* registers, uint32_t* out, int count) {
  constexpr size_t IMAGE_BYTES = A_BYTES + 256 * 32;
  for (size_t i = blockIdx.x; i < count; i += gridDim.x)
    issue<Instruction, 32>(images + i * IMAGE_BYTES, IMAGE_BYTES, registers + i * 128 * 4,
                           out + i * 128 * Instruction::accumulators);
}
