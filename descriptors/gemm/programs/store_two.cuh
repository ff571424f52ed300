// Accumulators in registers, and two neighbours of a row of C from there.
#pragma once
#include "plan.cuh"

// A value of an accumulator.
#if D_F16
__device__ __forceinline__ __half element(const Register (&d)[REGISTERS], int value) {
  return __ushort_as_half(static_cast<unsigned short>(d[value / 2] >> 16 * (value % 2)));
}
#else
__device__ __forceinline__ Register element(const Register (&d)[REGISTERS], int value) { return d[value]; }
#endif

// Two neighbours of a row of C, of which there are so many left.
__device__ __forceinline__ void store_two(TypeC* to, int left, const Register (&d)[REGISTERS], int value) {
  struct alignas(2 * sizeof(TypeC)) Two {
    TypeC first, second;
  };
  const Two two{TypeC(element(d, value)), TypeC(element(d, value + 1))};
  if (left >= 2 && reinterpret_cast<uintptr_t>(to) % sizeof(Two) == 0) {
    *reinterpret_cast<Two*>(to) = two;
  } else {
    if (left >= 1) to[0] = two.first;
    if (left >= 2) to[1] = two.second;
  }
}
