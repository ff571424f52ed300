// Bringing boxes into shared memory by the copy engine (TMA).
#pragma once
#include <cstdint>
#include <cuda.h>

// The first bytes of dynamic shared memory are the probe's own: its barrier. Operands lie after them.
constexpr int OWN_BYTES = 1024;

// Where a box comes from (fastest dimension first) and the absolute shared-memory address it goes to.
struct Box {
  int32_t at[5];
  uint32_t address;
};

#define COPY(RANK, COORDINATES, ...)                                                                              \
  asm volatile("cp.async.bulk.tensor." RANK                                                                       \
               ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" COORDINATES "}], [%2];\n" \
               ::"r"(box.address), "l"(reinterpret_cast<uint64_t>(map)), "r"(barrier), __VA_ARGS__                \
               : "memory")

__device__ __forceinline__ void copy_box(const CUtensorMap* map, uint64_t rank, const Box& box, uint32_t barrier) {
  const int32_t* at = box.at;
  if (rank == 1) COPY("1d", "%3", "r"(at[0]));
  if (rank == 2) COPY("2d", "%3, %4", "r"(at[0]), "r"(at[1]));
  if (rank == 3) COPY("3d", "%3, %4, %5", "r"(at[0]), "r"(at[1]), "r"(at[2]));
  if (rank == 4) COPY("4d", "%3, %4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
  if (rank == 5) COPY("5d", "%3, %4, %5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]));
}

// The boxes of one tensor map.
struct Boxes {
  const CUtensorMap* map;
  uint64_t rank;
  const Box* boxes;
  uint64_t count;
};

// Thread 0 issues all the boxes; every thread waits until `bytes` bytes have come.
__device__ __forceinline__ void copy_boxes(uint32_t barrier, const Boxes& a, const Boxes& b, uint64_t bytes) {
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n" ::"r"(barrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier),
                 "r"(static_cast<uint32_t>(bytes))
                 : "memory");
    for (uint64_t i = 0; i < a.count; ++i) copy_box(a.map, a.rank, a.boxes[i], barrier);
    for (uint64_t i = 0; i < b.count; ++i) copy_box(b.map, b.rank, b.boxes[i], barrier);
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
}
