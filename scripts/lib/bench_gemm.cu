// Times an emitted kernel and cuBLAS in one process, in alternating rounds, and prints the median of each.
//
// Compile with -DKERNEL="the emitted file", with -DPARTS if the kernel adds parts along K, and with -DFP8 if A and B are
// e4m3: the other side is then cublasLtMatmul with fast accumulation instead of cublasGemmEx.
// Arguments: the path of libcublas, M, N, K, the number of rounds. Prints one line of JSON. The operands are random numbers in [-1, 1), since power, and so the clock, depends on the data.
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

#ifdef FP8
// The little of cublasLt.h that is needed; libcublas depends on libcublasLt, so dlsym finds these names too.
using LtCreate = int (*)(Handle*, int, int);
using LtSet = int (*)(Handle, int, const void*, size_t);
using LtLayout = int (*)(Handle*, int, uint64_t, uint64_t, int64_t);
struct LtResult {  // cublasLtMatmulHeuristicResult_t
  uint64_t algorithm[8];
  size_t workspace;
  int status;
  float waves;
  int reserved[4];
};
using LtChoose = int (*)(Handle, Handle, Handle, Handle, Handle, Handle, Handle, int, LtResult*, int*);
using LtMatmul = int (*)(Handle, Handle, const void*, const void*, Handle, const void*, Handle, const void*,
                         const void*, Handle, void*, Handle, const void*, void*, size_t, cudaStream_t);
constexpr int R_8F_E4M3 = 28, DESC_TRANSA = 3, DESC_TRANSB = 4, DESC_FAST_ACCUM = 25, PREFERENCE_WORKSPACE = 1;
// cuBLAS documentation: 32 MiB are recommended on Hopper; cublasGemmEx has as much by default.
constexpr size_t WORKSPACE = 32u << 20;

// C = A B^T with C of one type: the descriptors of cublasLt and the algorithm that it ranks first.
struct Fp8Product {
  Handle handle, operation, of_a, of_b, of_c;
  LtResult chosen;
  LtMatmul matmul;
  void* workspace;
  int status = 1;

  Fp8Product(void* library, int type_c, int m, int n, int k) {
    const auto create = reinterpret_cast<int (*)(Handle*)>(dlsym(library, "cublasLtCreate"));
    const auto create_operation = reinterpret_cast<LtCreate>(dlsym(library, "cublasLtMatmulDescCreate"));
    const auto create_layout = reinterpret_cast<LtLayout>(dlsym(library, "cublasLtMatrixLayoutCreate"));
    const auto create_preference =
        reinterpret_cast<int (*)(Handle*)>(dlsym(library, "cublasLtMatmulPreferenceCreate"));
    const auto set = reinterpret_cast<LtSet>(dlsym(library, "cublasLtMatmulDescSetAttribute"));
    const auto prefer = reinterpret_cast<LtSet>(dlsym(library, "cublasLtMatmulPreferenceSetAttribute"));
    const auto choose = reinterpret_cast<LtChoose>(dlsym(library, "cublasLtMatmulAlgoGetHeuristic"));
    matmul = reinterpret_cast<LtMatmul>(dlsym(library, "cublasLtMatmul"));
    if (!create || !create_operation || !create_layout || !create_preference || !set || !prefer || !choose || !matmul)
      return;
    check(cudaMalloc(&workspace, WORKSPACE), "workspace");
    const int transposed = OP_T, plain = OP_N;
    const int8_t fast = 1;
    Handle preference;
    int found = 0;
    // Columns of cublasLt are rows of ours: its first operand is B, its second one A.
    if (create(&handle) || create_operation(&operation, COMPUTE_32F, R_32F) ||
        set(operation, DESC_TRANSA, &transposed, sizeof transposed) ||
        set(operation, DESC_TRANSB, &plain, sizeof plain) || set(operation, DESC_FAST_ACCUM, &fast, sizeof fast) ||
        create_layout(&of_b, R_8F_E4M3, k, n, k) || create_layout(&of_a, R_8F_E4M3, k, m, k) ||
        create_layout(&of_c, type_c, n, m, n) || create_preference(&preference) ||
        prefer(preference, PREFERENCE_WORKSPACE, &WORKSPACE, sizeof WORKSPACE) ||
        choose(handle, operation, of_b, of_a, of_c, of_c, preference, 1, &chosen, &found) || found == 0)
      return;
    status = chosen.status;
  }

  int operator()(const void* a, const void* b, void* c) const {
    const float one = 1, zero = 0;
    return matmul(handle, operation, &one, b, of_b, a, of_a, &zero, c, of_c, c, of_c, chosen.algorithm, workspace,
                  WORKSPACE, nullptr);
  }
};
#endif

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
  check(cudaMalloc(&narrow, sizeof(__nv_bfloat16) * M * N), "C of cuBLAS, narrow");
  check(cudaMalloc(&most, sizeof(float)), "difference");
  check(cudaMemset(most, 0, sizeof(float)), "difference");
  uniform<<<1024, 256>>>(a, static_cast<size_t>(M) * K, 1);
  uniform<<<1024, 256>>>(b, static_cast<size_t>(N) * K, 2);
#ifdef FP8
  const Fp8Product into_wide(library, R_32F, M, N, K), into_narrow(library, R_16BF, M, N, K);
  if (into_wide.status != 0 || into_narrow.status != 0) {
    std::fprintf(stderr, "bench_gemm: cublasLt has no algorithm for this product\n");
    return 2;
  }
  const auto cublas = [&](void* to, int type_c) { return (type_c == R_32F ? into_wide : into_narrow)(a, b, to); };
#else
  const auto create = reinterpret_cast<Create>(dlsym(library, "cublasCreate_v2"));
  const auto gemm_ex = reinterpret_cast<GemmEx>(dlsym(library, "cublasGemmEx"));
  Handle handle;
  if (create(&handle) != 0) return 2;
  // cuBLAS thinks in columns: the transpose of C is the product of the transposes, in the other order.
  const float one = 1, zero = 0;
  const auto cublas = [&](void* to, int type_c) {
    return gemm_ex(handle, B_MN_MAJOR ? OP_N : OP_T, A_MN_MAJOR ? OP_T : OP_N, N, M, K, &one, b, R_16BF,
                   B_MN_MAJOR ? N : K, a, R_16BF, A_MN_MAJOR ? M : K, &zero, to, type_c, N, COMPUTE_32F, -1);
  };
#endif
  const auto ours = [&] { launch(a, b, RESULT, M, N, K); };
  const auto wide = [&] { cublas(theirs, R_32F); };
  const auto usual = [&] { cublas(narrow, R_16BF); };
  if (cublas(theirs, R_32F) != 0 || cublas(narrow, R_16BF) != 0) {
    std::fprintf(stderr, "bench_gemm: cuBLAS refuses this product\n");
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
  std::printf("{\"m\": %d, \"n\": %d, \"k\": %d, \"us\": %.1f, \"tflops\": %.1f, \"cublas_f32_tflops\": %.1f, "
              "\"cublas_tflops\": %.1f, \"difference\": %.3g}\n", M, N, K, times[0][rounds / 2] * 1e3,
              rates[0], rates[1], rates[2], difference);
  return 0;
}
