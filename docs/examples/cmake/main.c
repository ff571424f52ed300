// The words of a main loop, as a kernel adds them up, from the header that the build wrote.
#include <stdio.h>

#include "gemm.h"

int main(void) {
  for (uint32_t stage = 0; stage < GEMM_STAGES; ++stage)
    for (uint32_t k = 0; k < GEMM_K_BLOCKS; ++k) {
      const uint64_t first = gemm_b_first(GEMM_B_BASE);
      printf("stage %u, K block %u: B %#018llx\n", (unsigned)stage, (unsigned)k,
             (unsigned long long)gemm_b_subtile(first, 0, k, stage));
    }
  return gemm_a_first(0) == GEMM_A_WORD ? 0 : 1;
}
