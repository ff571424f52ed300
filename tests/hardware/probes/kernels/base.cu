// Where dynamic shared memory begins in the address space of descriptors.
#include <cstdint>

extern "C" __global__ void shared_base(uint32_t* out) {
  extern __shared__ __align__(1024) uint8_t shared[];
  shared[threadIdx.x] = 1;
  if (threadIdx.x == 0) out[0] = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}
