// The words of a tile that is a parameter of a template: each instance is derived, or refused, when it is compiled.
#include <layoutalg/descriptor.hpp>

#include <cstdio>

using namespace layoutalg;

template <uint32_t M, uint32_t K, uint32_t Stages>
struct OperandA {
  static constexpr Derivation words =
      derive(Arch::sm90, Type::bf16, Major::K, Swizzle::B128, Tile{M, K, Stages}, Mma{64, 16});
  static_assert(words.error != Error::capacity, "the stages of A do not fit shared memory");
  static_assert(words.error != Error::whole_atoms, "K must be whole rows of 128 bytes, M whole rows of 8");
  static_assert(words.error == Error::none, "the tile has no descriptor, see Error");
};

using A = OperandA<128, 64, 4>;
static_assert(A::words.word == 0x4000004000010000, "LBO is not read, SBO is 1024 bytes, the swizzle 128B");

int main() {
  const uint64_t first = A::words.at(1024);  // what a kernel has of the address of the tile, once
  for (uint32_t stage = 0; stage < A::words.stages; ++stage)
    for (uint32_t k = 0; k < A::words.k_blocks; ++k)
      std::printf("stage %u, K block %u: A %#018llx\n", static_cast<unsigned>(stage), static_cast<unsigned>(k),
                  static_cast<unsigned long long>(first + A::words.advance(0, k, stage)));
  return A::words.at(1024, 1, 3, 3) == first + A::words.advance(1, 3, 3) ? 0 : 1;
}
