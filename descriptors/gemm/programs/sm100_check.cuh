// The product checked by the host: operands are drawn as the bits of their types, and compared with a plain product.
#pragma once
#include "host.cuh"

#ifndef LAYOUTALG_NO_MAIN

// A row of bits, from the lowest on: elements of 4 and 6 bits lie side by side in global memory.
inline void put(std::vector<uint8_t>& bytes, size_t bit, uint32_t width, uint32_t code) {
  for (uint32_t i = 0; i < width; ++i) bytes[(bit + i) / 8] |= static_cast<uint8_t>((code >> i & 1) << (bit + i) % 8);
}

inline uint32_t next(uint32_t& state) { return (state = state * 1664525u + 1013904223u) >> 16; }

// A matrix as it lies in memory, of the code of each element.
template <class Code>
std::vector<uint8_t> in_memory(size_t mn, size_t k, bool mn_major, uint32_t width, const Code& code) {
  std::vector<uint8_t> bytes(mn * k * width / 8);
  for (size_t i = 0; i < mn; ++i)
    for (size_t q = 0; q < k; ++q) put(bytes, (mn_major ? q * mn + i : i * k + q) * width, width, code(i, q));
  return bytes;
}

#if SCALED
// Scale factors of 1 and 2, tile by tile as a stage holds them.
template <class Byte>
std::vector<uint8_t> factors_in_memory(const std::vector<float>& factors, size_t rows, size_t k, size_t tile_rows,
                                       size_t tile_bytes, const Byte& byte) {
  std::vector<uint8_t> bytes(rows / tile_rows * (k / TILE_K) * tile_bytes);
  for (size_t i = 0; i < rows; ++i)
    for (size_t q = 0; q < k; q += VECTOR) {
      const size_t block = i / tile_rows * (k / TILE_K) + q / TILE_K;
      const float factor = factors[i * (k / VECTOR) + q / VECTOR];
      bytes[block * tile_bytes + byte(i % tile_rows, q % TILE_K / K_PER_A)] = factor == 1 ? FACTOR_1 : FACTOR_2;
    }
  return bytes;
}

#endif
template <class T>
T* on_device(const std::vector<T>& values) {
  T* data = nullptr;
  check(cudaMalloc(&data, values.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return data;
}

#if SPARSE || SCALED
// Bytes as rows of 128, of which a copy brings so many.
inline CUtensorMap map_of_rows(const char* what, const std::vector<uint8_t>& bytes, cuuint32_t rows) {
  return tensor_map(what, on_device(bytes), CU_TENSOR_MAP_DATA_TYPE_UINT8, {128, bytes.size() / 128}, {128},
                    {128, rows}, CU_TENSOR_MAP_SWIZZLE_NONE);
}

#endif
int main(int count, char**) {
  if (count > 1) {
    std::fprintf(stderr, "usage: gemm\n");
    return 2;
  }
  need_gpu();
  uint32_t state = 1;
#if CONVOLUTION
  constexpr Convolution shape = {IMAGES, HEIGHT, WIDTH, CHANNELS, FILTERS};
  const uint32_t m = shape.pixels(), n = FILTERS, k_tiles = TAPS * CHANNEL_BLOCKS;
  std::vector<int> a(size_t{IMAGES} * HEIGHT * WIDTH * CHANNELS), b(size_t{FILTERS} * TAPS * CHANNELS);
#else
  // Tiles end beyond C, where nothing but C has tiles of its own.
  const uint32_t m = TEST_TILES * TILE_M - RAGGED, n = TEST_TILES * TILE_N - RAGGED;
  const uint32_t k_tiles = 2 * (STAGES > SPLITS ? STAGES : SPLITS) + 1, k = k_tiles * TILE_K;
  std::vector<int> a(size_t{m} * k), b(size_t{n} * k);
#endif
  for (auto* matrix : {&a, &b})
    for (int& value : *matrix) value = LOWEST + static_cast<int>(next(state) % (HIGHEST - LOWEST + 1));
#if SPARSE
  // A has a code for each GROUP_K elements along K; it says which are stored, and others are zero.
  const uint32_t legal[] = {0x4, 0x8, 0x9, 0xc, 0xd, 0xe};  // of two elements; the first and the last of one
  std::vector<uint8_t> codes(size_t{m} * (k / GROUP_K));
  for (uint8_t& code : codes) {
    const uint32_t drawn = next(state);
    code = static_cast<uint8_t>(legal[STORED == 1 ? drawn % 2 * 5 : drawn % 6]);
  }
  const auto k_of = [&](size_t i, size_t q) -> size_t {
    const uint32_t code = codes[i * (k / GROUP_K) + q / STORED];
    const uint32_t first = STORED == 1 ? code >> 3 : code >> 2 * (q / TOGETHER % 2) & 3;
    return q / STORED * GROUP_K + first * TOGETHER + q % TOGETHER;
  };
  std::vector<int> kept(a.size());
  for (size_t i = 0; i < m; ++i)
    for (size_t q = 0; q < k / 2; ++q) kept[i * k + k_of(i, q)] = a[i * k + k_of(i, q)];
  a = kept;
#elif !CONVOLUTION
  const auto k_of = [](size_t, size_t q) { return q; };
#endif
#if CONVOLUTION
  const auto code_a = [&](size_t i, size_t q) { return A_CODES[a[i * CHANNELS + q] - LOWEST]; };
  const auto code_b = [&](size_t i, size_t q) { return B_CODES[b[i * CHANNELS + q] - LOWEST]; };
  const auto a_bytes = in_memory(a.size() / CHANNELS, CHANNELS, A_MN_MAJOR, A_BITS, code_a);
  const auto b_bytes = in_memory(b.size() / CHANNELS, CHANNELS, B_MN_MAJOR, B_BITS, code_b);
  const CUtensorMap map_a = map_of_pixels(on_device(a_bytes), shape), map_b = map_of_filters(on_device(b_bytes), shape);
#else
  const auto code_a = [&](size_t i, size_t q) { return A_CODES[a[i * k + k_of(i, q)] - LOWEST]; };
  const auto code_b = [&](size_t i, size_t q) { return B_CODES[b[i * k + q] - LOWEST]; };
  const auto a_bytes = in_memory(m, k / K_PER_A, A_MN_MAJOR, A_BITS, code_a);
  const auto b_bytes = in_memory(n, k, B_MN_MAJOR, B_BITS, code_b);
  const CUtensorMap map_a = map_of_a(on_device(a_bytes), m, k / K_PER_A), map_b = map_of_b(on_device(b_bytes), n, k);
#endif
#if SPARSE
  // The codes, the rows of a tile after the other as a stage holds them.
  std::vector<uint8_t> e_bytes(size_t{m} / E_ROWS * k_tiles * E_BLOCK_BYTES);
  for (size_t i = 0; i < m; ++i)
    for (size_t q = 0; q < k; q += GROUP_K) {
      const size_t block = i / E_ROWS * k_tiles + q / TILE_K;
      put(e_bytes, block * 8 * E_BLOCK_BYTES + e_bit(i % E_ROWS, q % TILE_K), 4, codes[(i * k + q) / GROUP_K]);
    }
  const CUtensorMap map_e = map_of_rows("metadata", e_bytes, E_BOX_ROWS);
#endif
#if SCALED
  std::vector<float> sfa(size_t{m} * (k / VECTOR)), sfb(size_t{n} * (k / VECTOR));
  for (auto* factors : {&sfa, &sfb})
    for (float& factor : *factors) factor = 1.0f + static_cast<float>(next(state) % 2);
  const CUtensorMap map_sfa = map_of_rows(
      "factors of A", factors_in_memory(sfa, m, k, TILE_M / CTA_GROUP, SFA_BYTES, sfa_byte), SFA_BYTES / 128);
  const CUtensorMap map_sfb =
      map_of_rows("factors of B", factors_in_memory(sfb, n, k, TILE_N, SFB_BYTES, sfb_byte), SFB_BYTES / 128);
#endif
  TypeC* c = nullptr;
  std::vector<TypeC> found(size_t{m} * n);
  check(cudaMalloc(&c, sizeof(*c) * found.size()), "cudaMalloc");
  check(cudaMemset(c, POISON, sizeof(*c) * found.size()), "cudaMemset");
#if SPLIT
  Register* parts = nullptr;
  check(cudaMalloc(&parts, sizeof(*parts) * SPLITS * found.size()), "cudaMalloc");
  check(cudaMemset(parts, POISON, sizeof(*parts) * SPLITS * found.size()), "cudaMemset");
  const CUtensorMap map_c = map_of_c(parts, m, n);
#elif STAGED
  const CUtensorMap map_c = map_of_c(c, m, n);
#endif
#if TERMS
  // Numbers whose sums and products are exact.
  Terms terms;
  terms.m = m, terms.n = n;
#endif
#if ROW_SCALES
  std::vector<float> row_scales(m);
  for (float& value : row_scales) value = next(state) % 2 ? 0.5f : 2.0f;
  terms.row_scales = on_device(row_scales);
#endif
#if ALPHA_BETA
  std::vector<TypeC> before(found.size());
  for (TypeC& value : before) value = TypeC(static_cast<float>(next(state) % 5) - 2);
  terms.alpha = 0.5f, terms.beta = -1, terms.before = on_device(before);
#endif
#if BIAS
  std::vector<float> bias(n);
  for (float& value : bias) value = static_cast<float>(next(state) % 7) - 3;
  terms.bias = on_device(bias);
#endif
  check(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES), "shared memory");
#if TURNS
  const dim3 grid(3 * CTA_GROUP);  // CTAs, or pairs, that take several tiles each
#else
  const dim3 grid((m + TILE_M - 1) / TILE_M * CTA_GROUP, (n + TILE_N - 1) / TILE_N, SPLITS);
#endif
  gemm<<<grid, THREADS, SHARED_BYTES>>>(map_a, map_b,
#if SPARSE
                                        map_e,
#endif
#if SCALED
                                        map_sfa, map_sfb,
#endif
#if STAGED
                                        map_c,
#else
                                        c,
#endif
#if FINISHED
                                        terms,
#endif
#if TURNS
                                        m, n, k_tiles * TILE_K);
#elif STAGED
                                        k_tiles);
#else
                                        m, n, k_tiles);
#endif
#if SPLIT
  add_parts<<<256, 256>>>(parts, c, found.size()
#if TERMS
                          , terms
#endif
  );
#endif
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "kernel");
  check(cudaMemcpy(found.data(), c, sizeof(*c) * found.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  size_t wrong = 0;
  for (size_t at = 0; at < found.size(); ++at) {
    const size_t i = at / n, j = at % n;
    Sum sum = 0;
#if CONVOLUTION
    const int Q = shape.q(), P = shape.p(), q = i % Q, p = i / Q % P;
    const size_t image = i / Q / P;
    for (int tap = 0; tap < TAPS; ++tap) {
      const int h = p * STRIDE_H - PADDING_H + tap / TAPS_W * DILATION_H;
      const int w = q * STRIDE_W - PADDING_W + tap % TAPS_W * DILATION_W;
      if (h < 0 || h >= HEIGHT || w < 0 || w >= WIDTH) continue;
      const int* pixel = &a[((image * HEIGHT + h) * WIDTH + w) * CHANNELS];
      const int* filter = &b[(TAPS * j + tap) * CHANNELS];
      for (int channel = 0; channel < CHANNELS; ++channel) sum += static_cast<Sum>(pixel[channel] * filter[channel]);
    }
#else
    for (uint32_t q = 0; q < k; ++q)
      sum += static_cast<Sum>(a[i * k + q] * b[j * k + q])
#if SCALED
             * sfa[i * (k / VECTOR) + q / VECTOR] * sfb[j * (k / VECTOR) + q / VECTOR]
#endif
             ;
#endif
#if ROW_SCALES
    sum *= row_scales[i];
#endif
#if ALPHA_BETA
    sum = 0.5f * sum - static_cast<float>(before[at]);
#endif
#if BIAS
    sum += bias[j];
#endif
    sum = static_cast<Sum>(TypeC(sum));
    const Sum got = static_cast<Sum>(found[at]);
    if (got == sum || wrong++ >= 4) continue;
#if CONVOLUTION
    std::printf("O(%zu,%d,%d,%zu) must be %g, found %g\n", image, p, q, j, double(sum), double(got));
#else
    std::printf("C(%zu,%zu) must be %g, found %g\n", i, j, double(sum), double(got));
#endif
  }
  std::printf("%zu of %zu elements differ\n", wrong, found.size());
  return wrong != 0;
}

#endif
