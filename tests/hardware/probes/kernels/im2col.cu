// The im2col probe: shared memory is poisoned, one im2col copy is brought in, and all of it is written back.
#include "copy.cuh"

extern "C" __global__ void im2col_and_dump(const __grid_constant__ CUtensorMap map, int c, int w, int h, int n,
                                           int right, int down, int bytes, uint8_t* out, int tile_bytes) {
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t barrier = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  uint8_t* tile = shared + OWN_BYTES;
  for (int i = threadIdx.x; i < tile_bytes / 16; i += blockDim.x)
    reinterpret_cast<uint4*>(tile)[i] = make_uint4(0xA5A5A5A5u, 0xA5A5A5A5u, 0xA5A5A5A5u, 0xA5A5A5A5u);
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n" ::"r"(barrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier), "r"(bytes) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%2, %3, %4, %5}], [%6], {%7, %8};\n" ::"r"(barrier + OWN_BYTES),
        "l"(reinterpret_cast<uint64_t>(&map)), "r"(c), "r"(w), "r"(h), "r"(n), "r"(barrier),
        "h"(static_cast<uint16_t>(right)), "h"(static_cast<uint16_t>(down))
        : "memory");
  }
  __syncthreads();
  uint32_t done = 0;
  // Should fewer bytes come than were counted on, the wait ends after a second or so, and what did come is compared.
  for (int64_t begun = clock64(); !done && clock64() - begun < int64_t(2000000000);) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}\n"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  }
  __syncthreads();
  for (int i = threadIdx.x; i < tile_bytes / 16; i += blockDim.x)
    reinterpret_cast<uint4*>(out)[i] = reinterpret_cast<uint4*>(tile)[i];
}
