// Runs an emitted program of a sparse A on matrices from a file: M, N, K as 32-bit integers, then A without its zeros, B
// and the packed metadata, as they lie in memory. C goes to another file.
#define LAYOUTALG_NO_MAIN
#include KERNEL

#include <vector>

static std::vector<char> bytes(std::FILE* from, size_t count) {
  std::vector<char> read(count);
  if (std::fread(read.data(), 1, count, from) != count) std::exit(2);
  return read;
}

static void* uploaded(const std::vector<char>& from, const char* what) {
  void* to;
  check(cudaMalloc(&to, from.size()), what);
  check(cudaMemcpy(to, from.data(), from.size(), cudaMemcpyHostToDevice), what);
  return to;
}

int main(int count, char** names) {
  std::FILE* from = count == 3 ? std::fopen(names[1], "rb") : nullptr;
  int extents[3];
  if (!from || std::fread(extents, sizeof(int), 3, from) != 3) return 2;
  const size_t M = extents[0], N = extents[1], K = extents[2];
  const void* a = uploaded(bytes(from, sizeof(TypeA) * M * K / 2), "A");
  const void* b = uploaded(bytes(from, sizeof(TypeB) * N * K), "B");
  const void* e = uploaded(bytes(from, 512 * ((M + 63) / 64) * ((K + COVERED - 1) / COVERED)), "metadata");
  std::vector<char> result(sizeof(TypeC) * M * N, '\xFF');
  void* c = uploaded(result, "C");
  launch(static_cast<const TypeA*>(a), static_cast<const TypeB*>(b), static_cast<const uint32_t*>(e),
         static_cast<TypeC*>(c), extents[0], extents[1], extents[2]);
  check(cudaMemcpy(result.data(), c, result.size(), cudaMemcpyDeviceToHost), "product");
  std::FILE* to = std::fopen(names[2], "wb");
  return !to || std::fwrite(result.data(), 1, result.size(), to) != result.size() || std::fclose(to);
}
