// What a host program needs of CUDA: its errors, and tensor maps. A failure ends the program with status 2.
#pragma once
#include "plan.cuh"

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "gemm: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

// Ends the program with status 3 if the first GPU is none that the program is for.
inline void need_gpu() {
  cudaDeviceProp properties;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0 &&
      cudaGetDeviceProperties(&properties, 0) == cudaSuccess) {
    const int capability = 10 * properties.major + properties.minor;
    if (LATER_TOO ? capability >= CAPABILITY : capability == CAPABILITY) return;
  }
  std::fprintf(stderr, "gemm: %s is needed, found none\n", GPU);
  std::exit(3);
}

#if BARRIERS_USED
// A function of the driver, which encodes tensor maps.
inline void* driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  check(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result), "driver");
#else
  check(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &result), "driver");
#endif
  if (result != cudaDriverEntryPointSuccess) {
    std::fprintf(stderr, "gemm: the driver must have %s, found none\n", name);
    std::exit(2);
  }
  return function;
}

inline CUtensorMap encoded(CUresult result, const CUtensorMap& map, const char* what) {
  if (result == CUDA_SUCCESS) return map;
  std::fprintf(stderr, "cuTensorMapEncode: error %d, operand %s\n", static_cast<int>(result), what);
  std::exit(2);
}

// A tensor map: extents and box from the fastest dimension on, strides in bytes from the second.
inline CUtensorMap tensor_map(const char* what, const void* data, CUtensorMapDataType type,
                              std::initializer_list<cuuint64_t> extents, std::initializer_list<cuuint64_t> strides,
                              std::initializer_list<cuuint32_t> box, CUtensorMapSwizzle swizzle) {
  const auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(driver_function("cuTensorMapEncodeTiled"));
  const cuuint32_t steps[] = {1, 1, 1, 1, 1};
  CUtensorMap map;
  const CUresult result =
      encode(&map, type, static_cast<cuuint32_t>(box.size()), const_cast<void*>(data), extents.begin(), strides.begin(),
             box.begin(), steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return encoded(result, map, what);
}

#if CONVOLUTION
// The map of the activations. The corners of the bounding box have a place in it for each output pixel.
inline CUtensorMap map_of_pixels(const void* data, const Convolution& shape) {
  const auto encode = reinterpret_cast<PFN_cuTensorMapEncodeIm2col_v12000>(driver_function("cuTensorMapEncodeIm2col"));
  const cuuint64_t N = shape.images, H = shape.height, W = shape.width, C = shape.channels, pixel = C * A_BITS / 8;
  const cuuint64_t extents[] = {C, W, H, N}, strides[] = {pixel, W * pixel, H * W * pixel};
  const int lower[] = {-PADDING_W, -PADDING_H};
  const int upper[] = {PADDING_W - DILATION_W * (TAPS_W - 1), PADDING_H - DILATION_H * (TAPS_H - 1)};
  const cuuint32_t steps[] = {1, STRIDE_W, STRIDE_H, 1};
  CUtensorMap map;
  const CUresult result =
      encode(&map, A_MAP_TYPE, 4, const_cast<void*>(data), extents, strides, lower, upper, A_BOX_INNER, A_BOX_OUTER,
             steps, CU_TENSOR_MAP_INTERLEAVE_NONE, A_MAP_SWIZZLE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return encoded(result, map, "A");
}

// The map of the filters. Channels beyond the last are zero, and belong to no other tap.
inline CUtensorMap map_of_filters(const void* data, const Convolution& shape) {
  const cuuint64_t C = shape.channels, K = shape.filters, tap = C * B_BITS / 8;
  return tensor_map("B", data, B_MAP_TYPE, {C, TAPS, K}, {tap, TAPS * tap}, {B_BOX_INNER, 1, B_BOX_OUTER},
                    B_MAP_SWIZZLE);
}

#else
// The maps of A and B; a row along the fastest dimension has so many elements.
inline CUtensorMap map_of_a(const void* data, cuuint64_t M, cuuint64_t K) {
  const cuuint64_t inner = A_MN_MAJOR ? M : K, outer = A_MN_MAJOR ? K : M;
  return tensor_map("A", data, A_MAP_TYPE, {inner, outer}, {inner * A_BITS / 8}, {A_BOX_INNER, A_BOX_OUTER},
                    A_MAP_SWIZZLE);
}

inline CUtensorMap map_of_b(const void* data, cuuint64_t N, cuuint64_t K) {
  const cuuint64_t inner = B_MN_MAJOR ? N : K, outer = B_MN_MAJOR ? K : N;
  return tensor_map("B", data, B_MAP_TYPE, {inner, outer}, {inner * B_BITS / 8}, {B_BOX_INNER, B_BOX_OUTER},
                    B_MAP_SWIZZLE);
}

#endif
#if STAGED
// The map of C, or of the parts along K.
inline CUtensorMap map_of_c(const void* data, cuuint64_t M, cuuint64_t N) {
  const cuuint64_t row = N * PIECE_BITS / 8;
#if SPLIT
  return tensor_map("C", data, C_MAP_TYPE, {N, M, SPLITS}, {row, M * row}, {PIECE_COLUMNS, PIECE_ROWS, 1},
                    C_MAP_SWIZZLE);
#else
  return tensor_map("C", data, C_MAP_TYPE, {N, M}, {row}, {PIECE_COLUMNS, PIECE_ROWS}, C_MAP_SWIZZLE);
#endif
}

#endif
#endif
