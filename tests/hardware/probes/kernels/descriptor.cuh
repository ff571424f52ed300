// The descriptor probe: which address does wgmma read each element from?
//
// Every element of shared memory holds a digit of its own address. Multiplied by an identity matrix, each element of the
// operand comes out in the accumulator; the digits of all passes together are the address that it was read from. The
// identity is in registers when B is probed; when A is probed, or B together with A from shared memory, it lies at the
// very start of shared memory, in core matrices without swizzle.
#pragma once
#include "common.cuh"

enum class Probed { A, B };

// Rows of the identity: its K-by-K part, in 16-byte pieces: LBO 128 (next 16 bytes along K), SBO 256 (next 8 rows).
__device__ constexpr uint64_t identity_word(uint32_t start) {
  return static_cast<uint64_t>(start >> 4) | uint64_t(128 >> 4) << 16 | uint64_t(256 >> 4) << 32;
}

template <class Element>
__device__ void write_digits(uint8_t* shared, uint32_t base, int bytes, int pass) {
  using Word = typename Element::Word;
  constexpr int size = sizeof(Word), each = 16 / size;
  for (int chunk = threadIdx.x; chunk < bytes / 16; chunk += blockDim.x) {
    alignas(16) Word words[each];
    for (int i = 0; i < each; ++i) {
      uint32_t unit = (base + chunk * 16) / size + i;
      words[i] = Element::encode(unit >> (pass * Element::DIGIT) & ((1 << Element::DIGIT) - 1));
    }
    reinterpret_cast<uint4*>(shared)[chunk] = *reinterpret_cast<uint4*>(words);
  }
}

// The identity with `rows` rows (the ones beyond K are zero), K columns of 32 bytes.
template <class Element>
__device__ void write_identity(uint8_t* shared, int rows) {
  using Word = typename Element::Word;
  constexpr int size = sizeof(Word), columns = 32 / size;
  for (int i = threadIdx.x; i < rows * columns; i += blockDim.x) {
    int row = i / columns, byte = i % columns * size;
    int offset = row / 8 * 256 + row % 8 * 16 + byte / 16 * 128 + byte % 16;
    *reinterpret_cast<Word*>(shared + offset) = row == i % columns ? Element::one : Word(0);
  }
}

// The identity as this thread's share of an A operand in registers: 64 rows, K columns.
template <class Element>
__device__ void identity_registers(uint32_t (&a)[4]) {
  using Word = typename Element::Word;
  constexpr int size = sizeof(Word), each = 4 / size;
  for (int r = 0; r < 4; ++r) {
    a[r] = 0;
    int row = 16 * (threadIdx.x / 32) + threadIdx.x % 32 / 4 + r % 2 * 8;
    for (int i = 0; i < each; ++i) {
      int column = r / 2 * 4 * each + threadIdx.x % 4 * each + i;
      if (row == column) a[r] |= static_cast<uint32_t>(Element::one) << (8 * size * i);
    }
  }
}

// out[word][row of the operand][k] = address; bit 31 is set where what came out is no digit.
template <class Instruction, Probed probed>
__device__ void probe(const uint64_t* words, int count, uint32_t* out, int shared_bytes) {
  using Element = typename Instruction::Element;
  using Accumulator = typename Instruction::Accumulator;
  constexpr int N = Instruction::N, K = Instruction::K;
  constexpr uint32_t size = sizeof(typename Element::Word);
  extern __shared__ __align__(1024) uint8_t shared[];
  const uint32_t base = shared_address(shared);
  for (int pass = 0; pass < passes<Element>; ++pass) {
    __syncthreads();
    write_digits<Element>(shared, base, shared_bytes, pass);
    __syncthreads();
    if (!Instruction::a_in_registers) write_identity<Element>(shared, probed == Probed::A ? N : 64);
    fence_async();
    __syncthreads();
    for (int w = blockIdx.x; w < count; w += gridDim.x) {
      Accumulator d[N / 2];
#pragma unroll
      for (int r = 0; r < N / 2; ++r) d[r] = 0;
#pragma unroll
      for (int r = 0; r < N / 2; ++r) fence_operand(d[r]);
      [[maybe_unused]] uint32_t a[4];  // written before the fence, which orders registers
      if constexpr (Instruction::a_in_registers) identity_registers<Element>(a);
      wgmma_arrive();
      if constexpr (Instruction::a_in_registers) {
        Instruction::mma(d, a, words[w], 0);
      } else if constexpr (probed == Probed::A) {
        Instruction::mma(d, words[w], identity_word(base), 0);
      } else {
        Instruction::mma(d, identity_word(base), words[w], 0);
      }
      wgmma_commit();
      wgmma_wait();
#pragma unroll
      for (int r = 0; r < N / 2; ++r) fence_operand(d[r]);
#pragma unroll
      for (int r = 0; r < N / 2; ++r) {
        int row = accumulator_row(r), column = accumulator_column(r);
        int i = probed == Probed::A ? row : column, k = probed == Probed::A ? column : row;
        if (k >= K) continue;
        int digit = Element::decode(d[r]);
        uint32_t* place = out + (static_cast<size_t>(w) * (probed == Probed::A ? 64 : N) + i) * K + k;
        uint32_t address = pass == 0 ? 0 : *place;
        if (digit < 0 || digit >= 1 << Element::DIGIT) address |= 0x80000000u;
        else address |= static_cast<uint32_t>(digit) * size << (pass * Element::DIGIT);
        *place = address;
      }
    }
  }
}
