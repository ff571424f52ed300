// Multiplies over and over by an emitted kernel and counts the products that are wrong.
//
// Compiled with -DKERNEL="the emitted file"; started with M, N, K and the number of launches. Prints a line of JSON after
// every so many launches, the last of them at the end: who kills a kernel that hangs still has what came before.
// Operands are small integers, so that every sum is exact; C is filled with NaN before each launch.
#define LAYOUTALG_NO_MAIN
#include KERNEL

// Integers from -2 to 2 that look random.
template <class Type>
__global__ void integers(Type* to, size_t count, uint32_t seed) {
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < count;
       at += static_cast<size_t>(gridDim.x) * blockDim.x) {
    uint32_t x = static_cast<uint32_t>(at) * 0x9E3779B1u ^ seed;
    x ^= x >> 16, x *= 0x85EBCA6Bu, x ^= x >> 13, x *= 0xC2B2AE35u, x ^= x >> 16;
    to[at] = Type(static_cast<float>(static_cast<int>(x % 5) - 2));
  }
}

// The plain product of rows of A and rows of B.
__global__ void plain(const TypeA* a, const TypeB* b, TypeC* c, int m, int n, int k) {
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < static_cast<size_t>(m) * n;
       at += static_cast<size_t>(gridDim.x) * blockDim.x) {
    float sum = 0;
    for (int i = 0; i < k; ++i)
      sum += static_cast<float>(a[at / n * k + i]) * static_cast<float>(b[at % n * k + i]);
    c[at] = sum;
  }
}

__global__ void differing(const TypeC* c, const TypeC* right, size_t count, unsigned long long* wrong) {
  unsigned long long own = 0;
  for (size_t at = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; at < count;
       at += static_cast<size_t>(gridDim.x) * blockDim.x)
    own += !(c[at] == right[at]);
  if (own) atomicAdd(wrong, own);
}

int main(int count, char** given) {
  if (count != 5) return 2;
  const int M = std::atoi(given[1]), N = std::atoi(given[2]), K = std::atoi(given[3]), launches = std::atoi(given[4]);
  const size_t elements = static_cast<size_t>(M) * N;
  TypeA* a;
  TypeB* b;
  TypeC *c, *right;
  unsigned long long *found, wrong_launches = 0, wrong_elements = 0;
  check(cudaMalloc(&a, sizeof(TypeA) * M * K), "A");
  check(cudaMalloc(&b, sizeof(TypeB) * N * K), "B");
  check(cudaMalloc(&c, sizeof(TypeC) * elements), "C");
  check(cudaMalloc(&right, sizeof(TypeC) * elements), "C");
  check(cudaMalloc(&found, sizeof(*found)), "count");
  integers<<<512, 256>>>(a, static_cast<size_t>(M) * K, 1);
  integers<<<512, 256>>>(b, static_cast<size_t>(N) * K, 2);
  plain<<<2048, 256>>>(a, b, right, M, N, K);
  check(cudaDeviceSynchronize(), "operands");
  for (int done = 1; done <= launches; ++done) {
    unsigned long long wrong = 0;
    check(cudaMemset(c, 0xFF, sizeof(TypeC) * elements), "C");
    check(cudaMemset(found, 0, sizeof(*found)), "count");
    launch(a, b, c, M, N, K);
    differing<<<1024, 256>>>(c, right, elements, found);
    check(cudaMemcpy(&wrong, found, sizeof(wrong), cudaMemcpyDeviceToHost), "product");
    wrong_launches += wrong != 0, wrong_elements += wrong;
    if (done % 50 == 0 || done == launches || done == 1) {
      std::printf("{\"launches\": %d, \"wrong_launches\": %llu, \"wrong_elements\": %llu}\n", done, wrong_launches,
                  wrong_elements);
      std::fflush(stdout);
    }
  }
  return 0;
}
