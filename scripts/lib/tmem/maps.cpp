// Prints CuTe's own layouts of tensor memory, one a line: KIND|NAME|layout|bits of an address unit|addresses.
// Compiled on a host, no GPU: scripts/make_tmem_vectors.py says how. COPIES is the list that it writes.
#include <cstdio>
#include <string>
#include <cute/atom/copy_traits_sm100.hpp>
#include <cute/atom/mma_traits_sm100.hpp>
#include <cute/tensor.hpp>
#include <cutlass/detail/sm100_blockscaled_layout.hpp>
using namespace cute;

template <class L>
void say(const char* kind, const char* name, L const& layout, int bits) {
  printf("%s|%s|", kind, name);
  print(layout);
  printf("|%d|", bits);
  for (int i = 0; i < int(size(layout)); ++i) printf("%u ", unsigned(layout(i)));
  printf("\n");
}

template <int M, int N, class TM = _1, class TN = _1>
auto shape(TM = {}, TN = {}) { return make_shape(make_shape(Int<M>{}, Int<N>{}), TM{}, TN{}); }

// An accumulator, or an operand in tensor memory (its store is as narrow as its type).
#define FRAGMENT(T, STORE, PAIR, MODE, M, N, ...) \
  say("D", #T " " #STORE " cta_group" #PAIR " " #MODE " " #M "x" #N " " #__VA_ARGS__, \
      UMMA::tmem_frg<T, STORE, PAIR, UMMA::TmemAllocMode::MODE>::make(shape<M, N>(__VA_ARGS__)).layout(), sizeof_bits_v<T>);
#define STATIONARY(T, M, N) \
  say("D", #T " ws " #M "x" #N, UMMA::tmem_frg_ws<T, uint32_t, 1>::make(shape<M, N>()).layout(), sizeof_bits_v<T>);
#define SCALES(VEC, COUNT, PAIR, IS_A, MN, TILES, MODE) \
  say("SF", #VEC " " #COUNT " cta_group" #PAIR " A=" #IS_A " " #MN " tiles" #TILES " " #MODE, \
      UMMA::tmem_sf_frg<float_ue8m0_t, VEC, PAIR, IS_A, UMMA::TmemAllocMode::MODE>::make(make_shape( \
        make_shape(Int<MN>{}, make_shape(Int<VEC>{}, Int<COUNT>{})), _1{}, Int<TILES>{})).layout(), 8);
// Metadata of a sparse A, M x logical K; the bits of a unit are 0 where two elements share one.
#define METADATA(MAKE, T, M, K, BITS, TILES) \
  say("E", #MAKE " " #T " " #M "x" #K " tiles" #TILES, \
      UMMA::MAKE<T>::make(make_shape(make_shape(Int<M>{}, Int<K>{}), _1{}, Int<TILES>{})).layout(), BITS);
#define MEMORY(VEC, MN, K) \
  say("SFG", #VEC " " #MN "x" #K, tile_to_shape(typename cutlass::detail::Sm1xxBlockScaledBasicChunk<VEC>::SfAtom{}, \
                                                make_shape(Int<MN>{}, Int<K>{}), Step<_2, _1>{}), 8);
// Scale factors of B in shared memory, where CUTLASS has the blocks of one K side by side.
#define SHARED(VEC, COUNT, PAIR, OP, M, N, DEPTH) \
  say("SFS", #VEC " " #COUNT " cta_group" #PAIR " " #M "x" #N "x" #DEPTH, \
      cutlass::detail::Sm1xxBlockScaledConfig<VEC>::deduce_smem_layoutSFB( \
        make_tiled_mma(OP<float_e2m1_t, float_e2m1_t, float, float_ue8m0_t, M, N, VEC, UMMA::Major::K, UMMA::Major::K>{}), \
        Shape<_##M, Int<N>, Int<DEPTH>>{}), 8);

// Where 16 bits of each register of each thread lie, the thread fastest, then halves, then registers.
template <class Op>
void move(const char* name) {
  using Traits = Copy_Traits<Op>;
  auto place = typename Traits::ValID{};
  auto dump = [&](auto layout) {
    print(place); printf("; "); print(layout); printf("|1|");
    for (int half = 0; half < int(size<1>(layout)) / 16; ++half)
      for (int t = 0; t < 32; ++t) printf("%u ", unsigned(place(layout(t, 16 * half))));
    printf("\n");
  };
  printf("LDST|%s|", name);
  if (std::string(name).find("STORE") != std::string::npos) dump(typename Traits::SrcLayout{});
  else dump(typename Traits::DstLayout{});
}

// For each bit of the destination: its place, and the number of the source bit that lands there (rows fastest).
template <class Op>
void copy(const char* name) {
  using Traits = Copy_Traits<Op>;
  auto place = typename Traits::ValID{};
  auto from = typename Traits::SrcLayout{};
  auto to = typename Traits::DstLayout{};
  printf("CP|%s|", name);
  print(place); printf("; "); print(from); printf("; "); print(to); printf("|1|");
  for (int i = 0; i < int(size<1>(to)); ++i) printf("%u %u ", unsigned(place(to(0, i))), unsigned(from(0, i)));
  printf("\n");
}

int main() {
#include "cases.inc"
}
