// The product checked on the GPU: operands that are drawn, the plain product, and the command line.
#pragma once
#include "plan.cuh"
#include "host.cuh"

#ifndef LAYOUTALG_NO_MAIN

// Bits that look random, of a position of a matrix.
__host__ __device__ inline uint32_t mixed(int row, int column, int seed) {
  uint32_t x = row * 0x9E3779B1u ^ column * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
  x ^= x >> 15, x *= 0x2C1B3C6Du, x ^= x >> 12, x *= 0x297A2D39u;
  return x ^ x >> 15;
}

#if NARROW
// Integers from -2 to 2, so that every sum is exact: four elements of a row at a time, which are whole bytes.
template <class Type>
__global__ void fill(Type* to, int mn, int k, bool mn_major, int seed, bool) {
  for (size_t at = 4 * (blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x); at < static_cast<size_t>(mn) * k;
       at += 4 * static_cast<size_t>(gridDim.x) * blockDim.x) {
    uint32_t four = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = static_cast<int>(mixed(static_cast<int>(at / k), static_cast<int>(at % k) + i, seed) % 5) - 2;
      const uint32_t code = digit ? (Type::BIAS + (digit < 0 ? -digit : digit) - 1) << Type::MANTISSA : 0;
      four |= (code | (digit < 0 ? 1u << (Type::BITS - 1) : 0)) << (Type::BITS * i);
    }
    for (int i = 0; i < Type::BITS / 2; ++i) to[at / 4 * (Type::BITS / 2) + i].byte = four >> (8 * i);
  }
  (void)mn_major;
}

// The number of an element of a row after row, its bits one after the other in memory.
template <class Type>
__device__ float number(const Type* from, size_t at) {
  const size_t bit = at * Type::BITS;
  uint32_t code = from[bit / 8].byte;
  if (Type::BITS == 6 && bit % 8 > 2) code |= from[bit / 8 + 1].byte << 8;
  code = code >> (bit % 8) & ((1u << Type::BITS) - 1);
  const int exponent = (code & ((1u << (Type::BITS - 1)) - 1)) >> Type::MANTISSA;
  const float rest = (code & ((1u << Type::MANTISSA) - 1)) / static_cast<float>(1 << Type::MANTISSA);
  const float size = exponent ? ldexpf(1 + rest, exponent - Type::BIAS) : ldexpf(rest, 1 - Type::BIAS);
  return code >> (Type::BITS - 1) ? -size : size;
}

#else
// Small integers, so that every sum is exact; for the time numbers of all bits, since power, and so the clock, depends
// on them.
template <class Type>
__global__ void fill(Type* to, int mn, int k, bool mn_major, int seed, bool small) {
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < static_cast<size_t>(mn) * k;
       at += static_cast<size_t>(gridDim.x) * blockDim.x) {
    const int row = static_cast<int>(mn_major ? at % mn : at / k);
    const int column = static_cast<int>(mn_major ? at / mn : at % k);
    const uint32_t bits = mixed(row, column, seed);
    const float digit = static_cast<float>(static_cast<int>(bits % (HIGHEST - LOWEST + 1)) + LOWEST);
    to[at] = Type(small ? digit : INTEGERS ? static_cast<float>(bits % 128) : bits * 0x1p-31f - 1.0f);
  }
}

template <class Type>
__device__ float number(const Type* from, size_t at) {
  return static_cast<float>(from[at]);
}

#endif
#if SCALED
// Factors of 1/2, 1 and 2.
__global__ void fill_factors(uint8_t* to, int mn, int k, int seed) {
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < static_cast<size_t>(mn) * k;
       at += static_cast<size_t>(gridDim.x) * blockDim.x)
    to[at] = FACTOR_1 + FACTOR_STEP * (mixed(static_cast<int>(at / k), static_cast<int>(at % k), seed) % 3 - 1);
}

__device__ float factor(uint8_t code) {
#if FACTOR_MANTISSA
  return code >> 3 ? ldexpf(1 + code % 8 / 8.0f, (code >> 3) - 7) : ldexpf(code % 8 / 8.0f, -6);
#else
  return exp2f(static_cast<float>(code) - 127);
#endif
}

#elif PROMOTED
// Powers of two, so that every sum is exact.
__host__ __device__ inline float a_factor(int row, int group) {
  return static_cast<float>(1 << mixed(row, group, 3) % 4) * 0.5f;
}
__host__ __device__ inline float b_factor(int block, int group) {
  return static_cast<float>(1 << mixed(block, group, 4) % 4) * 0.25f;
}

// The factors of A and of B, as they lie in memory.
__global__ void scale(float* a_scales, float* b_scales, int m, int n, int k) {
  const int groups = (k + GROUP_K - 1) / GROUP_K, padded = (m + PADDED - 1) / PADDED * PADDED;
  const int blocks = (n + GROUP_K - 1) / GROUP_K, from = blockIdx.x * blockDim.x + threadIdx.x;
  for (int at = from; at < groups * padded; at += gridDim.x * blockDim.x)
    a_scales[at] = at % padded < m ? a_factor(at % padded, at / padded) : 0.0f;
  for (int at = from; at < groups * blocks; at += gridDim.x * blockDim.x)
    b_scales[at] = b_factor(at / groups, at % groups);
}

#elif SPARSE
// The code of a group of elements along K of A.
__host__ __device__ inline uint32_t code_of(int row, int group) {
  constexpr uint32_t codes[] = {0x4, 0x8, 0x9, 0xC, 0xD, 0xE};  // of two elements; the first and the last of one
  const uint32_t drawn = mixed(row, group, 3);
  return codes[STORED == 1 ? drawn % 2 * 5 : drawn % 6];
}

// Where along K the element is that is stored as number so and so of a row.
__host__ __device__ inline size_t k_of(int row, int stored) {
  const uint32_t code = code_of(row, stored / STORED);
  return stored / STORED * GROUP_K + (STORED == 1 ? code >> 3 : code >> 2 * (stored % 2) & 3);
}

// The word of each thread, from the lowest bits up.
__global__ void pack(uint32_t* metadata, int m, int k) {
  const int packs = (k + COVERED - 1) / COVERED;
  const size_t count = static_cast<size_t>((m + 63) / 64) * packs * 128;
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < count;
       at += static_cast<size_t>(gridDim.x) * blockDim.x) {
    const int thread = static_cast<int>(at % 128), block = static_cast<int>(at / 128);
    uint32_t word = 0;
    for (int code = 0; code < 8; ++code) {
      const int row = block / packs * 64 + e_row(thread, code * E_VALUES / 8);
      const int column = block % packs * COVERED + thread / 2 % SELECTORS * MMA_K + e_column(thread, code * E_VALUES / 8);
      word |= (row < m && column < k ? code_of(row, column / GROUP_K) : 0x4) << 4 * code;
    }
    metadata[at] = word;
  }
}

#endif
// The plain product, of the elements as they lie in memory; found[0] counts what differs, found[1] is the first of it.
__global__ void compare(const TypeA* a, const TypeB* b, const TypeC* c,
#if CONVOLUTION
                        Convolution shape,
#else
                        int m, int n, int k,
#endif
#if TERMS
                        Terms terms,
#elif SCALED
                        const uint8_t* sfa, const uint8_t* sfb,
#endif
                        unsigned long long* found) {
#if CONVOLUTION
  const int m = shape.pixels(), n = shape.filters, p = shape.p(), q = shape.q();
#endif
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < static_cast<size_t>(m) * n;
       at += static_cast<size_t>(gridDim.x) * blockDim.x) {
    const size_t row = at / n, column = at % n;
    float sum = 0;
#if CONVOLUTION
    const int x = row % q, y = row / q % p;
    const size_t image = row / q / p;
    for (int r = 0; r < TAPS_H; ++r)
      for (int s = 0; s < TAPS_W; ++s) {
        const int h = y * STRIDE_H - PADDING_H + r * DILATION_H, w = x * STRIDE_W - PADDING_W + s * DILATION_W;
        if (h < 0 || h >= shape.height || w < 0 || w >= shape.width) continue;
        const TypeA* pixel = a + ((image * shape.height + h) * shape.width + w) * shape.channels;
        const TypeB* filter = b + ((column * TAPS_H + r) * TAPS_W + s) * shape.channels;
        for (int i = 0; i < shape.channels; ++i) sum += number(pixel, i) * number(filter, i);
      }
#else
    for (size_t i = 0; i < k / K_PER_A; ++i) {
#if SPARSE
      const size_t depth = k_of(row, i);
#else
      const size_t depth = i;
#endif
      sum += number(a, A_MN_MAJOR ? i * m + row : row * (k / K_PER_A) + i) *
             number(b, B_MN_MAJOR ? depth * n + column : column * k + depth)
#if SCALED
             * factor(sfa[(row * k + i) / VECTOR]) * factor(sfb[(column * k + i) / VECTOR])
#elif PROMOTED
             * a_factor(row, i / GROUP_K) * b_factor(column / GROUP_K, i / GROUP_K)
#endif
             ;
    }
#endif
#if ROW_SCALES
    sum *= terms.row_scales[row];
#endif
#if ALPHA_BETA
    sum = terms.alpha * sum + terms.beta * static_cast<float>(terms.before[at]);
#endif
#if BIAS
    sum += terms.bias[column];
#endif
    if (static_cast<float>(c[at]) != static_cast<float>(TypeC(sum))) {
      atomicAdd(found, 1ull);
      atomicMin(found + 1, static_cast<unsigned long long>(at));
    }
  }
}

int main(int count, char** given) {
#if CONVOLUTION
  int size[] = {IMAGES, HEIGHT, WIDTH, CHANNELS, FILTERS}, sizes = 0;
#else
  int size[] = {2 * TILE_M, 2 * TILE_N, (STAGES + 2) * TILE_K}, sizes = 0;
#endif
  constexpr int extents = sizeof(size) / sizeof(*size);
  bool timed = false;
  for (int i = 1; i < count; ++i) {
    char* end = nullptr;
    const long value = std::strtol(given[i], &end, 10);
    if (std::strcmp(given[i], "--time") == 0) {
      timed = true;
    } else if (sizes < extents && *end == 0 && value > 0 && value <= 1 << (extents == 3 ? 20 : 16)) {
      size[sizes++] = static_cast<int>(value);
    } else {
      std::fprintf(stderr, "usage: gemm [%s] [--time]\n", extents == 3 ? "M N K" : "N H W C K");
      return 2;
    }
  }
#if CONVOLUTION
  const Convolution shape = {size[0], size[1], size[2], size[3], size[4]};
  const int M = shape.pixels(), N = shape.filters, K = TAPS * shape.channels;
  if (sizes % 5 || shape.p() < 1 || shape.q() < 1 || !strides_do(M, N, shape.channels)) {
    std::fprintf(stderr, "gemm: N, H, W, C and K must be given all, there must be outputs, and C%s be a multiple of 16 bytes%s\n",
#else
  const int M = size[0], N = size[1], K = size[2];
  if (sizes % 3 || !strides_do(M, N, K)) {
    std::fprintf(stderr, "gemm: M, N and K must be given all, and a row of A%s be a multiple of 16 bytes%s\n",
#endif
#if STAGED
                 ", B or C",
#else
                 " or B",
#endif
#if SPLIT
                 ", and K have a step for each part");
#else
                 "");
#endif
    return 2;
  }
  need_gpu();
  TypeA* a;
  TypeB* b;
  TypeC* c;
  unsigned long long *found, host[2] = {0, ~0ull};
#if CONVOLUTION
  const int a_rows = shape.images * shape.height * shape.width, b_rows = shape.filters * TAPS, depth = shape.channels;
#else
  const int a_rows = M, b_rows = N, depth = K;
#endif
  check(cudaMalloc(&a, sizeof(TypeA) * a_rows * depth / K_PER_A), "A");
  check(cudaMalloc(&b, sizeof(TypeB) * b_rows * depth), "B");
  check(cudaMalloc(&c, sizeof(TypeC) * M * N), "C");
  check(cudaMalloc(&found, sizeof(host)), "result");
#if SPLIT
  Register* parts;
  check(cudaMalloc(&parts, sizeof(Register) * SPLITS * M * N), "parts");
#endif
#if SCALED
  uint8_t *sfa, *sfb;
  check(cudaMalloc(&sfa, static_cast<size_t>(M) * K / VECTOR), "factors of A");
  check(cudaMalloc(&sfb, static_cast<size_t>(N) * K / VECTOR), "factors of B");
  fill_factors<<<1024, 256>>>(sfa, M, K / VECTOR, 3);
  fill_factors<<<1024, 256>>>(sfb, N, K / VECTOR, 4);
#endif
#if TERMS
  Terms terms;
#endif
#if ROW_SCALES
  float* row_scales;
  check(cudaMalloc(&row_scales, sizeof(float) * M), "terms");
  fill<<<1024, 256>>>(row_scales, M, 1, false, 4, true);
  terms.row_scales = row_scales;
#endif
#if ALPHA_BETA
  TypeC* before;
  check(cudaMalloc(&before, sizeof(TypeC) * M * N), "terms");
  fill<<<1024, 256>>>(before, M, N, false, 5, true);
  terms.alpha = 2, terms.beta = -1, terms.before = before;
#endif
#if BIAS
  float* bias;
  check(cudaMalloc(&bias, sizeof(float) * N), "terms");
  fill<<<1024, 256>>>(bias, N, 1, false, 3, true);
  terms.bias = bias;
#endif
  check(cudaMemset(c, 0xFF, sizeof(TypeC) * M * N), "C");
  check(cudaMemcpy(found, host, sizeof(host), cudaMemcpyHostToDevice), "result");
#if SPARSE
  uint32_t* metadata;
  check(cudaMalloc(&metadata, sizeof(uint32_t) * 128 * ((M + 63) / 64) * ((K + COVERED - 1) / COVERED)), "metadata");
  pack<<<1024, 256>>>(metadata, M, K);
#elif PROMOTED
  float *a_scales, *b_scales;
  const size_t groups = (K + GROUP_K - 1) / GROUP_K;
  check(cudaMalloc(&a_scales, sizeof(float) * groups * ((M + PADDED - 1) / PADDED * PADDED)), "factors of A");
  check(cudaMalloc(&b_scales, sizeof(float) * groups * ((N + GROUP_K - 1) / GROUP_K)), "factors of B");
  scale<<<256, 256>>>(a_scales, b_scales, M, N, K);
#endif
  const auto draw = [&](bool small) {
    fill<<<1024, 256>>>(a, a_rows, depth / K_PER_A, A_MN_MAJOR, 1, small);
    fill<<<1024, 256>>>(b, b_rows, depth, B_MN_MAJOR, 2, small);
  };
  const auto multiply_all = [&] {
    launch(a, b,
#if SPARSE
           metadata,
#elif PROMOTED
           a_scales, b_scales,
#endif
           c,
#if SPLIT
           parts,
#endif
#if TERMS
           terms,
#elif SCALED
           sfa, sfb,
#endif
#if CONVOLUTION
           shape);
#else
           M, N, K);
#endif
  };
  draw(true);
  multiply_all();
  compare<<<4096, 256>>>(a, b, c,
#if CONVOLUTION
                         shape,
#else
                         M, N, K,
#endif
#if TERMS
                         terms,
#elif SCALED
                         sfa, sfb,
#endif
                         found);
  check(cudaMemcpy(host, found, sizeof(host), cudaMemcpyDeviceToHost), "product");
#if CONVOLUTION
  if (host[0]) {
    const int P = shape.p(), Q = shape.q(), pixel = static_cast<int>(host[1] / N);
    std::printf("wrong: %dx%dx%dx%d convolution, %llu of %zu elements differ, first of output (%d,%d,%d,%d)\n",
                shape.images, shape.height, shape.width, shape.channels, host[0], static_cast<size_t>(M) * N,
                pixel / Q / P, pixel / Q % P, pixel % Q, static_cast<int>(host[1] % N));
    return 1;
  }
  std::printf("exact: %dx%dx%dx%d convolution, %zu elements\n", shape.images, shape.height, shape.width, shape.channels,
              static_cast<size_t>(M) * N);
#else
  if (host[0]) {
    std::printf("wrong: %dx%dx%d product, %llu of %zu elements differ, first C(%llu,%llu)\n", M, N, K, host[0],
                static_cast<size_t>(M) * N, host[1] / N, host[1] % N);
    return 1;
  }
  std::printf("exact: %dx%dx%d product, %zu elements\n", M, N, K, static_cast<size_t>(M) * N);
#endif
  if (timed) {
    constexpr int RUNS = 20;
    cudaEvent_t start, stop;
    float milliseconds = 0;
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&stop), "event");
    draw(false);
    for (int i = 0; i < 3; ++i) multiply_all();
    check(cudaEventRecord(start), "event");
    for (int i = 0; i < RUNS; ++i) multiply_all();
    check(cudaEventRecord(stop), "event");
    check(cudaEventSynchronize(stop), "time");
    check(cudaEventElapsedTime(&milliseconds, start, stop), "time");
    const double seconds = milliseconds / 1e3 / RUNS;
    std::printf("%.1f us, %.1f T%s/s\n", seconds * 1e6, 2.0 * M * N * K / seconds / 1e12, OPERATIONS);
  }
  return 0;
}

#endif
