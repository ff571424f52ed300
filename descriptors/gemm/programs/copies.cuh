// Copies of the tensor copy engine into shared memory; their bytes count at a barrier. In a cluster a copy goes to the
// same place of every CTA of the mask, and to the barrier there. Of a pair of CTAs the barrier is that of the leader.
#pragma once
#include "plan.cuh"

#if CONVOLUTION
// So many output pixels from one on, as a tap sees them: zeros where that is outside of the activations.
__device__ __forceinline__ void copy_pixels(uint32_t to, const CUtensorMap* map, int channel, int pixel, int tap,
                                            const Convolution& shape, uint32_t barrier
#if CLUSTERED
                                            , uint32_t mask
#endif
) {
  const int q = shape.q(), p = shape.p();
  const int w = pixel % q * STRIDE_W - PADDING_W, h = pixel / q % p * STRIDE_H - PADDING_H, n = pixel / q / p;
  const uint16_t right = tap % TAPS_W * DILATION_W, down = tap / TAPS_W * DILATION_H;
  asm volatile(
#if CLUSTERED
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster "
#elif PAIR
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.cta_group::2 "
#else
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
#endif
#if CLUSTERED
      "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8}, %9;" ::"r"(to),
      "l"(map), "r"(channel), "r"(w), "r"(h), "r"(n), "r"(barrier), "h"(right), "h"(down),
      "h"(static_cast<uint16_t>(mask))
#else
      "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
      "l"(map), "r"(channel), "r"(w), "r"(h), "r"(n), "r"(barrier), "h"(right), "h"(down)
#endif
      : "memory");
}

// Filters from one on, at a tap.
__device__ __forceinline__ void copy_filters(uint32_t to, const CUtensorMap* map, int channel, int filter, int tap,
                                             uint32_t barrier
#if CLUSTERED
                                             , uint32_t mask
#endif
) {
  asm volatile(
#if CLUSTERED
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
#elif PAIR
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 "
#else
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
#endif
#if CLUSTERED
      "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
      "l"(map), "r"(channel), "r"(tap), "r"(filter), "r"(barrier), "h"(static_cast<uint16_t>(mask))
#else
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(map), "r"(channel), "r"(tap), "r"(filter), "r"(barrier)
#endif
      : "memory");
}

#else
// A box of a matrix.
__device__ __forceinline__ void copy_box(uint32_t to, const CUtensorMap* map, int inner, int outer, uint32_t barrier
#if CLUSTERED
                                         , uint32_t mask
#endif
) {
  asm volatile(
#if CLUSTERED
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
#elif PAIR
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 "
#else
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
#endif
#if CLUSTERED
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(inner), "r"(outer), "r"(barrier), "h"(static_cast<uint16_t>(mask))
#else
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(inner), "r"(outer), "r"(barrier)
#endif
      : "memory");
}

#endif
