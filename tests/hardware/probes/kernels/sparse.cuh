// The sparse probe: wgmma.mma_async.sp with A, B and the metadata of every thread from the host, D back to it.
//
// The host says what registers and shared memory hold and reads what comes out; the kernels know no map.
#pragma once
#include "fragments.cuh"

// cases[count]: which image, and which metadata; images: A without its zeros, and B, 64 bytes a row; registers[images];
// metadata[][128]; out[count].
template <class Instruction>
__device__ void sparse(const int2* cases, const uint8_t* images, const uint32_t* registers, const uint32_t* metadata,
                       uint32_t* out, int count) {
  constexpr size_t IMAGE_BYTES = A_BYTES + 64 * 64;
  for (size_t i = blockIdx.x; i < count; i += gridDim.x) {
    const size_t image = cases[i].x, codes = cases[i].y;
    issue<Instruction, 64>(images + image * IMAGE_BYTES, IMAGE_BYTES, registers + image * 128 * 4,
                           out + i * 128 * Instruction::accumulators, metadata[codes * 128 + threadIdx.x]);
  }
}
