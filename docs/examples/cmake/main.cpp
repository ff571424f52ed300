// The same in C++, where every word is a constant that the compiler checks.
#include <cstdio>

#include "gemm.h"

static_assert(gemm_a_first(GEMM_A_BASE) == GEMM_A_WORD, "A begins where shared memory does");
static_assert(gemm_b_subtile(gemm_b_first(GEMM_B_BASE), 0, 1, 0) - gemm_b_first(GEMM_B_BASE) == 128, "a K block of B");
static_assert(GEMM_B_TRANSPOSED == 1, "B is MN-major, which is a bit of the instruction");

int main() {
  for (uint32_t k = 0; k < GEMM_K_BLOCKS; ++k)
    std::printf("K block %u: A + %u\n", static_cast<unsigned>(k), static_cast<unsigned>(GEMM_A_OFFSET_UNITS(0, k, 0)));
  return 0;
}
