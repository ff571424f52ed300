// The copy-engine probe: shared memory is poisoned, boxes are brought in, and the whole of it is written back (`bytes`
// counts what the copy engine brings, `tile_bytes` what is poisoned and dumped).
#include "copy.cuh"

extern "C" __global__ void copy_and_dump(const __grid_constant__ CUtensorMap map, int rank, const Box* boxes, int count,
                                         int bytes, uint8_t* out, int tile_bytes) {
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t barrier = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  uint8_t* tiles = shared + OWN_BYTES;
  for (int i = threadIdx.x; i < tile_bytes / 16; i += blockDim.x)
    reinterpret_cast<uint4*>(tiles)[i] = make_uint4(0xA5A5A5A5u, 0xA5A5A5A5u, 0xA5A5A5A5u, 0xA5A5A5A5u);
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
  __syncthreads();
  copy_boxes(barrier, {&map, uint64_t(rank), boxes, uint64_t(count)}, {&map, 0, nullptr, 0}, bytes);
  for (int i = threadIdx.x; i < tile_bytes / 16; i += blockDim.x)
    reinterpret_cast<uint4*>(out)[i] = reinterpret_cast<uint4*>(tiles)[i];
}
