// The bank probe: one warp, one access to shared memory; the hardware counters say how many wavefronts it took.
#include <cstdint>

// offsets[32]: byte offset of each lane in shared memory, negative for a lane that stays out. What a lane loads goes to
// `sink`, so that the compiler keeps the load.
#define ACCESS(NAME, INSTRUCTION)                                                                        \
  extern "C" __global__ void NAME(const int* offsets, uint32_t* sink) {                                  \
    extern __shared__ __align__(1024) uint8_t shared[];                                                  \
    const int offset = offsets[threadIdx.x];                                                             \
    const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + offset;           \
    uint32_t x = offset, y = offset, z = offset, w = offset;                                             \
    uint16_t h = static_cast<uint16_t>(offset);                                                          \
    if (offset >= 0) INSTRUCTION;                                                                        \
    sink[threadIdx.x] = x + y + z + w + h;                                                               \
  }

ACCESS(load_1, asm volatile("ld.shared.u8 %0, [%1];\n" : "=r"(x) : "r"(address)))
ACCESS(load_2, asm volatile("ld.shared.u16 %0, [%1];\n" : "=h"(h) : "r"(address)))
ACCESS(load_4, asm volatile("ld.shared.u32 %0, [%1];\n" : "=r"(x) : "r"(address)))
ACCESS(load_8, asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];\n" : "=r"(x), "=r"(y) : "r"(address)))
ACCESS(load_16, asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];\n"
                             : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                             : "r"(address)))
ACCESS(store_1, asm volatile("st.shared.u8 [%0], %1;\n" ::"r"(address), "r"(x)))
ACCESS(store_2, asm volatile("st.shared.u16 [%0], %1;\n" ::"r"(address), "h"(h)))
ACCESS(store_4, asm volatile("st.shared.u32 [%0], %1;\n" ::"r"(address), "r"(x)))
ACCESS(store_8, asm volatile("st.shared.v2.u32 [%0], {%1, %2};\n" ::"r"(address), "r"(x), "r"(y)))
ACCESS(store_16, asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};\n" ::"r"(address), "r"(x), "r"(y), "r"(z), "r"(w)))

// Matrices: a lane's offset is that of a row of 16 bytes; every lane takes part.
ACCESS(ldmatrix_16, asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                                 : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                                 : "r"(address)))
ACCESS(stmatrix_16, asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(address),
                                 "r"(x), "r"(y), "r"(z), "r"(w)))
