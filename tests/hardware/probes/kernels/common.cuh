// What the wgmma kernels share: element types with the values that are exact in them, the accumulator's map, fences.
#pragma once
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// An element type as the probes see it. A probe writes numbers of DIGIT bits, one above zero so that an element that was
// never read cannot pass for a digit, and reads them back from the accumulator.
struct f16_t {
  using Word = uint16_t;
  static constexpr int DIGIT = 9;
  static constexpr Word one = 0x3C00;
  static __device__ Word encode(int digit) { return __half_as_ushort(__int2half_rn(digit + 1)); }
  static __device__ int decode(float value) { return static_cast<int>(value) - 1; }
};
struct bf16_t {
  using Word = uint16_t;
  static constexpr int DIGIT = 6;
  static constexpr Word one = 0x3F80;
  static __device__ Word encode(int digit) { return __bfloat16_as_ushort(__int2bfloat16_rn(digit + 1)); }
  static __device__ int decode(float value) { return static_cast<int>(value) - 1; }
};
struct tf32_t {
  using Word = uint32_t;
  static constexpr int DIGIT = 8;
  static constexpr Word one = 0x3F800000;
  static __device__ Word encode(int digit) { return __float_as_uint(static_cast<float>(digit + 1)); }
  static __device__ int decode(float value) { return static_cast<int>(value) - 1; }
};
// The two 8-bit floats have too few exact integers: the digit is the bit pattern, 8 up, which leaves out zero and the
// subnormal numbers. Every pattern is a different value, and rounding it back to the type gives the pattern again.
struct e4m3_t {
  using Word = uint8_t;
  static constexpr int DIGIT = 6;
  static constexpr Word one = 0x38;
  static __device__ Word encode(int digit) { return static_cast<Word>(digit + 8); }
  static __device__ int decode(float value) { return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3) - 8; }
};
struct e5m2_t {
  using Word = uint8_t;
  static constexpr int DIGIT = 6;
  static constexpr Word one = 0x3C;
  static __device__ Word encode(int digit) { return static_cast<Word>(digit + 8); }
  static __device__ int decode(float value) { return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2) - 8; }
};
struct s8_t {
  using Word = uint8_t;
  static constexpr int DIGIT = 6;
  static constexpr Word one = 1;
  static __device__ Word encode(int digit) { return static_cast<Word>(digit + 1); }
  static __device__ int decode(int32_t value) { return value - 1; }
};
using u8_t = s8_t;

// Bits of an address in units of the element, within the 18-bit window of a descriptor.
template <class Element>
constexpr int address_bits = sizeof(typename Element::Word) == 1 ? 18 : sizeof(typename Element::Word) == 2 ? 17 : 16;
template <class Element>
constexpr int passes = (address_bits<Element> + Element::DIGIT - 1) / Element::DIGIT;

// Where accumulator r of this thread lies in the 64 x N result.
__device__ __forceinline__ int accumulator_row(int r) {
  return 16 * (threadIdx.x / 32) + (threadIdx.x % 32) / 4 + 8 * (r / 2 % 2);
}
__device__ __forceinline__ int accumulator_column(int r) { return 8 * (r / 4) + (threadIdx.x % 4) * 2 + r % 2; }

__device__ __forceinline__ void fence_operand(float& value) { asm volatile("" : "+f"(value)::"memory"); }
__device__ __forceinline__ void fence_operand(int32_t& value) { asm volatile("" : "+r"(value)::"memory"); }
__device__ __forceinline__ void wgmma_arrive() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
__device__ __forceinline__ void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory"); }
// Ordinary stores to shared memory become visible to the tensor core.
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory"); }

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
