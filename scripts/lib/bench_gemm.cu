// Times an emitted kernel beside cuBLAS in one process: rounds of both in turn, the median of each.
//
// Compiled with -DKERNEL="the emitted file", and -DPARTS where it adds parts along K; started with the path of
// libcublas, M, N, K and the number of rounds.
// Prints one line of JSON. The operands are random numbers in [-1, 1), since power, and so the clock, depends on the data.
#define LAYOUTALG_NO_MAIN
#include KERNEL

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <vector>

// The little of cublas_v2.h that is needed, so that its headers need not be installed.
using Handle = void*;
using Create = int (*)(Handle*);
using GemmEx = int (*)(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                       const void*, void*, int, int, int, int);
constexpr int OP_N = 0, OP_T = 1, COMPUTE_32F = 68, R_32F = 0, R_16BF = 14;

template <class Type>
__global__ void uniform(Type* to, size_t count, uint32_t seed) {
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < count;
       at += static_cast<size_t>(gridDim.x) * blockDim.x) {
    uint32_t x = static_cast<uint32_t>(at) * 0x9E3779B1u ^ seed;
    x ^= x >> 16, x *= 0x85EBCA6Bu, x ^= x >> 13, x *= 0xC2B2AE35u, x ^= x >> 16;
    to[at] = Type(static_cast<float>(x >> 8) * 0x1p-23f - 1.0f);
  }
}

// How far C is from the f32 result beyond what its type rounds.
__global__ void farthest(const TypeC* a, const float* b, size_t count, float* found) {
  const float rounded = sizeof(TypeC) == 2 ? 0x1p-8f : 0;
  float most = 0;
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < count;
       at += static_cast<size_t>(gridDim.x) * blockDim.x)
    most = fmaxf(most, fabsf(static_cast<float>(a[at]) - b[at]) - rounded * fabsf(b[at]));
  atomicMax(reinterpret_cast<int*>(found), __float_as_int(most));
}

template <class Work>
float timed(const Work& work, cudaEvent_t start, cudaEvent_t stop, int runs) {
  float milliseconds = 0;
  cudaEventRecord(start);
  for (int i = 0; i < runs; ++i) work();
  cudaEventRecord(stop);
  check(cudaEventSynchronize(stop), "time");
  cudaEventElapsedTime(&milliseconds, start, stop);
  return milliseconds / runs;
}

int main(int count, char** given) {
  if (count != 6) return 2;
  void* library = dlopen(given[1], RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "bench_gemm: %s\n", dlerror());
    return 2;
  }
  const auto create = reinterpret_cast<Create>(dlsym(library, "cublasCreate_v2"));
  const auto gemm_ex = reinterpret_cast<GemmEx>(dlsym(library, "cublasGemmEx"));
  const int M = std::atoi(given[2]), N = std::atoi(given[3]), K = std::atoi(given[4]), rounds = std::atoi(given[5]);
  TypeA* a;
  TypeB* b;
  TypeC* c;
  float *theirs, *most;
  void* narrow;
#ifdef PARTS
  Register* parts;
  check(cudaMalloc(&parts, sizeof(Register) * SPLITS * M * N), "parts");
#define RESULT c, parts
#else
#define RESULT c
#endif
  check(cudaMalloc(&a, sizeof(TypeA) * M * K), "A");
  check(cudaMalloc(&b, sizeof(TypeB) * N * K), "B");
  check(cudaMalloc(&c, sizeof(TypeC) * M * N), "C");
  check(cudaMalloc(&theirs, sizeof(float) * M * N), "C of cuBLAS");
  check(cudaMalloc(&narrow, sizeof(TypeA) * M * N), "C of cuBLAS, narrow");
  check(cudaMalloc(&most, sizeof(float)), "difference");
  check(cudaMemset(most, 0, sizeof(float)), "difference");
  uniform<<<1024, 256>>>(a, static_cast<size_t>(M) * K, 1);
  uniform<<<1024, 256>>>(b, static_cast<size_t>(N) * K, 2);
  Handle handle;
  if (create(&handle) != 0) return 2;
  // cuBLAS thinks in columns: the transpose of C is the product of the transposes, in the other order.
  const float one = 1, zero = 0;
  const int type = R_16BF;  // of A and B
  const auto cublas = [&](void* to, int type_c) {
    return gemm_ex(handle, B_MN_MAJOR ? OP_N : OP_T, A_MN_MAJOR ? OP_T : OP_N, N, M, K, &one, b, type,
                   B_MN_MAJOR ? N : K, a, type, A_MN_MAJOR ? M : K, &zero, to, type_c, N, COMPUTE_32F, -1);
  };
  const auto ours = [&] { launch(a, b, RESULT, M, N, K); };
  const auto wide = [&] { cublas(theirs, R_32F); };
  const auto usual = [&] { cublas(narrow, type); };
  if (cublas(theirs, R_32F) != 0 || cublas(narrow, type) != 0) {
    std::fprintf(stderr, "bench_gemm: cublasGemmEx must do, it does not\n");
    return 2;
  }
  ours();
  farthest<<<1024, 256>>>(c, theirs, static_cast<size_t>(M) * N, most);
  float difference;
  check(cudaMemcpy(&difference, most, sizeof(float), cudaMemcpyDeviceToHost), "difference");
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), "event");
  check(cudaEventCreate(&stop), "event");
  std::vector<float> times[3];
  for (int round = 0; round < rounds + 2; ++round) {  // two to warm up
    const float each[3] = {timed(ours, start, stop, 5), timed(wide, start, stop, 5), timed(usual, start, stop, 5)};
    if (round >= 2)
      for (int i = 0; i < 3; ++i) times[i].push_back(each[i]);
  }
  double rates[3];
  for (int i = 0; i < 3; ++i) {
    std::nth_element(times[i].begin(), times[i].begin() + rounds / 2, times[i].end());
    rates[i] = 2.0 * M * N * K / times[i][rounds / 2] / 1e9;
  }
  std::printf("{\"m\": %d, \"n\": %d, \"k\": %d, \"tflops\": %.1f, \"cublas_f32_tflops\": %.1f, "
              "\"cublas_tflops\": %.1f, \"difference\": %.3g}\n", M, N, K, rates[0], rates[1], rates[2], difference);
  return 0;
}
