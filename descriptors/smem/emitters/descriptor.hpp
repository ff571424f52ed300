// Shared-memory descriptors of wgmma (sm90) and tcgen05.mma (sm100, sm103, sm107, sm110), derived at compile time.
//
//   #include <layoutalg/descriptor.hpp>
//   using namespace layoutalg;
//   constexpr Derivation a = derive(Arch::sm90, Type::bf16, Major::K, Swizzle::B128, Tile{128, 64, 4}, Mma{64, 16});
//   static_assert(a.error == Error::none && a.word == 0x4000004000010000, "");
//   uint64_t word = a.at(address_of_tile, m_block, k_block, stage);  // of any instruction; or one addition for each:
//   uint64_t next = a.at(address_of_tile) + a.advance(m_block, k_block, stage);
//
// C++17 and CUDA C++17, nothing but <cstdint>. In device code declare the derivation inside the function that uses it.
// What is refused has an Error and no word: whatever is asked of it is no_word, whose reserved bits are set.
//
// In it: tiles of swizzle atoms in both stacking orders, stages last; every type of K or MN that an instruction reads
// from shared memory but b1; dense and sparse instructions, of one CTA or a pair, by what all sources allow; the words
// of sm107, whose addresses have 15 bits; K = 96, whose operands cross atoms. Not in it: layouts that are no tile of
// atoms, tcgen05.cp, stages stacked before MN or K, what sources dispute, the proof: `descriptors derive` has them.
#ifndef LAYOUTALG_DESCRIPTOR_HPP
#define LAYOUTALG_DESCRIPTOR_HPP

#include <cstdint>

#if defined(__CUDACC__)
#define LAYOUTALG_FUNCTION __host__ __device__ constexpr
#else
#define LAYOUTALG_FUNCTION constexpr
#endif

namespace layoutalg {

enum class Arch { sm90, sm100, sm103, sm107, sm110 };
// As they lie in shared memory: e2m1 has two elements a byte (mxf4, mxf4nvf4); of e2m3, e3m2 and e2m1_unpacksmem 16
// take 16 bytes (PTX: tcgen05, Packing formats of sub-byte types). s1z4m11 is multiplied by kind ti16.
enum class Type { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, e2m1_unpacksmem, s8, u8, s1z4m11 };
enum class Major { K, MN };  // the dimension that is contiguous; MN is M of A and N of B
enum class Swizzle { none, B32, B64, B128, B128_base32B };
enum class Operand { either, A, B };
// As after .kind:: of tcgen05, and f16, tf32, f8, i8 for wgmma, which names none; automatic: what the type means.
enum class Kind { automatic, f16, tf32, f8, i8, f8f6f4, mxf8f6f4, mxf4, mxf4nvf4, ti16 };
// The dimension along which atoms are stacked first; standard: not the contiguous one, so that TMA boxes are largest.
enum class Order { standard, MN_first, K_first };
// The atom of MN-major 128B_base32B has 8 k in the CuTe DSL and 4 in CUTLASS C++, which stacked MN first are not alike.
enum class Atom { canonical, MN_SW128_32B_4ROWS };

enum class Error {
  none,
  extent,          // an extent is 0
  capacity,        // the tile is larger than Options::capacity, or than what a start address can name
  atom,            // there is no such atom: 128B_base32B is MN-major, and the atom of 4 rows is of that swizzle
  type,            // no instruction of this kind and architecture multiplies the type
  major,           // the instruction reads this type K-major only
  swizzle,         // nor has it this swizzle
  cta_group,       // it is 1, or of tcgen05 2
  instruction,     // no instruction reads Mma{mn, k} of one CTA's shared memory
  whole_atoms,     // the tile is no whole number of atoms
  whole_operands,  // nor of what one instruction reads
  inside_atom,     // operands begin at different places of their atoms
  whole_16_bytes,  // an operand ends within 16 bytes
  canonical,       // no canonical form: LBO or SBO would have to be several steps
  crosses_atoms,   // 48 bytes of K cross atoms, which swizzle 128B alone allows
  field            // the word has no code for the swizzle, or no room for LBO or SBO
};

struct Tile { uint32_t mn, k, stages = 1; };  // elements
struct Mma { uint32_t mn, k; };  // what one instruction reads of one CTA's shared memory; of a sparse A half of its K

struct Options {
  Order order = Order::standard;
  Operand operand = Operand::either;
  Kind kind = Kind::automatic;
  uint32_t cta_group = 0;         // 0: either
  bool sparse = false;
  bool any_instruction = false;   // derive what no instruction reads, too
  Atom atom = Atom::canonical;
  uint32_t capacity = 227 * 1024;  // bytes of shared memory that the tile must fit
};

inline constexpr uint64_t no_word = ~uint64_t{0};  // bits 54 to 60 belong to no field of any architecture

namespace detail {

// A mode of a layout, of two levels: index i lies at i % inner * step + i / inner * outer_step.
struct Mode {
  uint32_t inner = 1, step = 0, outer = 1, outer_step = 0;

  LAYOUTALG_FUNCTION uint32_t operator()(uint32_t i) const { return i % inner * step + i / inner * outer_step; }
  LAYOUTALG_FUNCTION uint32_t size() const { return inner * outer; }
  LAYOUTALG_FUNCTION bool is_one_step() const { return outer == 1; }

  // The same mode with one level, where one step does for all (CuTe: coalesce).
  LAYOUTALG_FUNCTION Mode coalesced() const {
    if (inner == 1) return {outer, outer == 1 ? 0 : outer_step, 1, 0};
    return outer == 1 || outer_step == inner * step ? Mode{inner * outer, step, 1, 0} : *this;
  }
};

// A mode cut into parts of n indices that lie alike: the first part, and the steps from part to part (CuTe:
// logical_divide); not whole where a part would end inside the inner level.
struct Cut { bool whole; Mode part, rest; };

LAYOUTALG_FUNCTION Cut cut(Mode mode, uint32_t n) {
  const Mode m = mode.coalesced();
  if (m.inner % n == 0)
    return {true, {n, n == 1 ? 0 : m.step, 1, 0}, Mode{m.inner / n, n * m.step, m.outer, m.outer_step}.coalesced()};
  const uint32_t many = n / m.inner;
  if (n % m.inner != 0 || m.outer % many != 0) return {false, {}, {}};
  return {true, {m.inner, m.step, many, m.outer_step}, Mode{1, 0, m.outer / many, many * m.outer_step}.coalesced()};
}

// Counted in elements before, in 16 bytes after (CuTe: recast_layout).
LAYOUTALG_FUNCTION Mode in_16_bytes(Mode m, uint32_t elements) {
  if (m.step == 1) return {m.inner / elements, 1, m.outer, m.outer_step / elements};
  return {m.inner, m.step / elements, m.outer, m.outer_step / elements};
}

LAYOUTALG_FUNCTION bool is_tcgen05(Arch arch) { return arch != Arch::sm90; }

// What instructions read: M of A, N of B, and bits of K, of which a sparse instruction reads twice as many of B (PTX:
// wgmma.mma_async and tcgen05, Matrix shape).
struct Shapes {
  uint32_t archs, kinds, ctas;
  bool sparse;
  uint32_t k_bits, m[3], n_first, n_last, n_step;
};

template <class... Values>
LAYOUTALG_FUNCTION uint32_t set(Values... values) {
  return ((1u << static_cast<uint32_t>(values)) | ...);
}

// Tables written by scripts/make_header.py: begin
// Bits of an element in shared memory.
LAYOUTALG_FUNCTION uint32_t bits_of(Type type) {
  constexpr uint32_t values[] = {16, 16, 32, 8, 8, 8, 8, 4, 8, 8, 8, 16};
  return values[static_cast<int>(type)];
}

// Bytes that a start address can name.
LAYOUTALG_FUNCTION uint32_t window_bytes(Arch arch) {
  constexpr uint32_t values[] = {262144, 262144, 262144, 524288, 262144};
  return values[static_cast<int>(arch)];
}

// The code of the swizzle in the descriptor; -1 where there is none.
LAYOUTALG_FUNCTION int swizzle_code(Arch arch, Swizzle swizzle) {
  constexpr int values[][5] = {
      {0, 3, 2, 1, -1},  // sm90
      {0, 6, 4, 2, 1},  // sm100
      {0, 6, 4, 2, 1},  // sm103
      {0, 6, 4, 2, 1},  // sm107
      {0, 6, 4, 2, 1},  // sm110
  };
  return values[static_cast<int>(arch)][static_cast<int>(swizzle)];
}

// The shapes that all sources allow; M and N are those of one CTA.
struct LegalShapes { Shapes rows[29]; };

LAYOUTALG_FUNCTION LegalShapes legal_shapes() {
  constexpr uint32_t tcgen05 = set(Arch::sm100, Arch::sm103, Arch::sm107, Arch::sm110);
  return {{
      {set(Arch::sm90), set(Kind::f16, Kind::tf32, Kind::f8), 1, false, 256, {64}, 8, 256, 8},
      {set(Arch::sm90), set(Kind::f16, Kind::tf32, Kind::f8), 1, true, 256, {64}, 8, 256, 8},
      {set(Arch::sm90), set(Kind::i8), 1, false, 256, {64}, 8, 32, 8},
      {set(Arch::sm90), set(Kind::i8), 1, false, 256, {64}, 48, 256, 16},
      {set(Arch::sm90), set(Kind::i8), 1, true, 256, {64}, 8, 32, 8},
      {set(Arch::sm90), set(Kind::i8), 1, true, 256, {64}, 48, 256, 16},
      {tcgen05, set(Kind::f16, Kind::tf32, Kind::f8f6f4), 1, false, 256, {32, 64, 128}, 8, 256, 8},
      {tcgen05, set(Kind::f16, Kind::tf32, Kind::f8f6f4, Kind::mxf4, Kind::mxf4nvf4), 2, false, 256, {64, 128}, 8, 128, 8},
      {tcgen05, set(Kind::f16, Kind::tf32, Kind::f8f6f4), 1, true, 256, {32, 64, 128}, 8, 256, 8},
      {tcgen05, set(Kind::f16, Kind::tf32, Kind::f8f6f4), 2, true, 256, {64, 128}, 16, 128, 16},
      {set(Arch::sm100, Arch::sm110), set(Kind::i8), 1, false, 256, {32, 64, 128}, 8, 16, 8},
      {set(Arch::sm100, Arch::sm110), set(Kind::i8), 1, false, 256, {32, 64, 128}, 32, 256, 16},
      {set(Arch::sm100, Arch::sm110), set(Kind::i8), 2, false, 256, {64, 128}, 16, 128, 16},
      {set(Arch::sm100, Arch::sm110), set(Kind::i8), 1, true, 256, {32, 64, 128}, 8, 16, 8},
      {set(Arch::sm100, Arch::sm110), set(Kind::i8), 1, true, 256, {32, 64, 128}, 32, 256, 16},
      {set(Arch::sm100, Arch::sm110), set(Kind::i8), 2, true, 256, {64, 128}, 16, 128, 16},
      {tcgen05, set(Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4), 1, false, 256, {128}, 8, 256, 8},
      {tcgen05, set(Kind::mxf8f6f4), 2, false, 256, {128}, 8, 128, 8},
      {tcgen05, set(Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4), 1, true, 256, {128}, 8, 256, 8},
      {tcgen05, set(Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4), 2, true, 256, {128}, 8, 128, 8},
      {set(Arch::sm100, Arch::sm103, Arch::sm107), set(Kind::mxf4, Kind::mxf4nvf4), 2, false, 384, {128}, 8, 128, 8},
      {set(Arch::sm107), set(Kind::ti16), 1, false, 256, {32, 64, 128}, 8, 256, 8},
      {set(Arch::sm107), set(Kind::ti16), 2, false, 256, {64, 128}, 16, 128, 16},
      {set(Arch::sm107), set(Kind::ti16), 1, true, 256, {32, 64, 128}, 8, 256, 8},
      {set(Arch::sm107), set(Kind::ti16), 2, true, 256, {64, 128}, 16, 128, 16},
      {set(Arch::sm107), set(Kind::f8f6f4, Kind::mxf8f6f4), 1, false, 512, {128}, 8, 256, 8},
      {set(Arch::sm107), set(Kind::f8f6f4, Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4), 2, false, 512, {128}, 8, 128, 8},
      {set(Arch::sm107), set(Kind::mxf8f6f4), 1, true, 512, {128}, 8, 256, 8},
      {set(Arch::sm107), set(Kind::mxf8f6f4), 2, true, 512, {128}, 8, 128, 8},
  }};
}
// Tables written by scripts/make_header.py: end


// The contiguous extent of an atom (PTX: Swizzling modes).
LAYOUTALG_FUNCTION uint32_t row_bytes(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none: return 16;
    case Swizzle::B32: return 32;
    case Swizzle::B64: return 64;
    default: return 128;
  }
}

// Where the pattern of the swizzle repeats: 8 rows (PTX: Shared memory descriptor, base offset).
LAYOUTALG_FUNCTION uint32_t alignment_bytes(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 16 : 8 * row_bytes(swizzle);
}

LAYOUTALG_FUNCTION Kind kind_of(Arch arch, Type type) {
  switch (type) {
    case Type::f16: case Type::bf16: return Kind::f16;
    case Type::tf32: return Kind::tf32;
    case Type::s8: case Type::u8: return Kind::i8;
    case Type::e4m3: case Type::e5m2: return is_tcgen05(arch) ? Kind::f8f6f4 : Kind::f8;
    case Type::e2m1: return Kind::mxf4;
    case Type::s1z4m11: return Kind::ti16;
    default: return Kind::f8f6f4;
  }
}

// PTX: wgmma.mma_async; tcgen05.mma, Instruction descriptor and Target ISA Notes.
LAYOUTALG_FUNCTION bool multiplies(Arch arch, Kind kind, Type type) {
  const Kind own = kind_of(arch, type);
  switch (kind) {
    case Kind::i8: return kind == own && arch != Arch::sm103 && arch != Arch::sm107;
    case Kind::ti16: return kind == own && arch == Arch::sm107;
    case Kind::mxf8f6f4: return own == Kind::f8f6f4 && is_tcgen05(arch);
    case Kind::mxf4nvf4: return own == Kind::mxf4 && is_tcgen05(arch);
    case Kind::f8f6f4: case Kind::mxf4: return kind == own && is_tcgen05(arch);
    default: return kind == own;
  }
}

// PTX: wgmma.mma_async, imm-trans-a and imm-trans-b; tcgen05, Transpose and Negate operations, and Valid Combinations
// of Type-Size, Major-ness and Swizzling.
LAYOUTALG_FUNCTION Error major_and_swizzle(Arch arch, Kind kind, Type type, Major major, Swizzle swizzle) {
  const bool has_transpose = kind == Kind::f16 || (is_tcgen05(arch) && (kind == Kind::tf32 || kind == Kind::i8 ||
                             kind == Kind::ti16 || type == Type::e4m3 || type == Type::e5m2));
  if (major == Major::MN && !has_transpose) return Error::major;
  const bool needs_32 = major == Major::MN && kind == Kind::tf32;
  return (swizzle == Swizzle::B128_base32B) == needs_32 ? Error::none : Error::swizzle;
}

LAYOUTALG_FUNCTION bool is_read(Arch arch, Kind kind, uint32_t bits, Mma mma, const Options& options) {
  constexpr LegalShapes shapes = legal_shapes();
  const uint64_t k_bits = uint64_t{mma.k} * bits;
  for (const Shapes& row : shapes.rows) {
    if (!(row.archs & set(arch)) || !(row.kinds & set(kind)) || row.sparse != options.sparse) continue;
    if (options.cta_group != 0 && options.cta_group != row.ctas) continue;
    const bool m = mma.mn == row.m[0] || mma.mn == row.m[1] || mma.mn == row.m[2];
    const bool n = mma.mn >= row.n_first && mma.mn <= row.n_last && (mma.mn - row.n_first) % row.n_step == 0;
    if (options.operand != Operand::B && m && k_bits == row.k_bits) return true;
    if (options.operand != Operand::A && n && k_bits == row.k_bits << options.sparse) return true;
  }
  return false;
}

LAYOUTALG_FUNCTION Error legality(Arch arch, Type type, Major major, Swizzle swizzle, Mma mma, const Options& options) {
  if (options.any_instruction) return Error::none;
  const Kind kind = options.kind == Kind::automatic ? kind_of(arch, type) : options.kind;
  if (!multiplies(arch, kind, type)) return Error::type;
  const Error operand = major_and_swizzle(arch, kind, type, major, swizzle);
  if (operand != Error::none) return operand;
  if (options.cta_group > (is_tcgen05(arch) ? 2u : 1u)) return Error::cta_group;
  return is_read(arch, kind, bits_of(type), mma, options) ? Error::none : Error::instruction;
}

LAYOUTALG_FUNCTION bool fits(Tile tile, uint32_t bits, uint64_t bytes) {
  const uint64_t most = bytes * 8 / 4, area = uint64_t{tile.mn} * tile.k;  // most elements, so that nothing overflows
  return area <= most && area * tile.stages <= most && area * tile.stages * bits / 8 <= bytes;
}

// A mode of an operand in canonical form: a chunk that the hardware walks by itself, and one step to the next chunk.
struct Chunks { bool canonical; uint32_t extent, step, many, next; };

LAYOUTALG_FUNCTION Chunks chunks(Mode mode, uint32_t extent) {
  const uint32_t chunk = mode.size() < extent ? mode.size() : extent;  // of a smaller operand that part alone is read
  const Cut c = cut(mode, chunk);
  const bool canonical = mode.size() % chunk == 0 && c.whole && c.part.is_one_step() && c.rest.is_one_step();
  return {canonical, chunk, c.part.step, c.rest.size(), c.rest.step};
}

}  // namespace detail

struct Derivation {
  Error error = Error::none;
  uint64_t word = no_word;     // of the first operand, without the address
  uint32_t lbo = 0, sbo = 0;   // bytes; 0 where the step is never taken; of K = 96 LBO is no step but an address
  uint32_t alignment = 16;     // bytes: where the swizzle pattern repeats; a tile elsewhere has a base offset
  bool transposed = false;     // the transpose bit of wgmma, or of the instruction descriptor of tcgen05
  uint32_t mn_blocks = 0, k_blocks = 0, stages = 0;  // operands of the tile
  uint32_t window = 16;        // bytes that a start address can name
  bool crosses = false;        // operands cross atoms (PTX: Absolute address mode for K dimension being 48B)
  detail::Mode mn_steps, k_steps, stage_steps;  // from operand to operand, in 16 bytes; of K = 96 from 16 bytes to 16

  // What to add to the word of the first operand for another one.
  LAYOUTALG_FUNCTION uint64_t advance(uint32_t mn, uint32_t k, uint32_t stage = 0) const {
    const uint64_t others = mn_steps(mn) + stage_steps(stage);
    if (!crosses) return others + k_steps(k);
    // Operand k begins at the third of 16 bytes after the one before, and ends in the line of 128 bytes that LBO names.
    return (others + k_steps(3 * k)) | (others + k_steps((3 * k + 2) / 8 * 8)) << 16;
  }

  // The word of an operand of the tile at an address in shared memory, of which the part within the CTA counts: bits
  // from 24 on name a CTA of the cluster (CUTLASS: Sm100MmaPeerBitMask). no_word if the address is misaligned, or there
  // is no such operand, or it begins beyond what a start address can name.
  LAYOUTALG_FUNCTION uint64_t at(uint64_t address, uint32_t mn = 0, uint32_t k = 0, uint32_t stage = 0) const {
    if (error != Error::none || mn >= mn_blocks || k >= k_blocks || stage >= stages) return no_word;
    const uint64_t base = address & 0xffffff, units = advance(mn, k, stage);
    const uint64_t start = base / 16 + (units & 0xffff), line = crosses ? base / 16 + (units >> 16) : 0;
    // PTX, base offset: 0 where the pattern repeats; there alone operands may cross atoms.
    if (base % (crosses ? alignment : alignment < 128 ? 16 : 128) != 0) return no_word;
    if (start >= window / 16 || line >= window / 16) return no_word;
    return (word | start | line << 16) | (base % alignment != 0 ? base / 128 % 8 : 0) << 49;
  }
};

namespace detail {

LAYOUTALG_FUNCTION Derivation refused(Error error) {
  Derivation none;
  none.error = error;
  return none;
}

// PTX: wgmma and tcgen05, Shared memory descriptor: LBO from bit 16, SBO from bit 32, in 16 bytes. tcgen05 has 0b001 in
// bits 46 to 48, bit 52 for an LBO that is an address, and a code of the swizzle of 3 bits instead of 2.
LAYOUTALG_FUNCTION Derivation encoded(Derivation d, Arch arch, Swizzle swizzle) {
  const int code = swizzle_code(arch, swizzle);
  if (code < 0 || d.lbo >= d.window || d.sbo >= 1u << 18) return refused(Error::field);
  d.word = uint64_t{d.lbo / 16} << 16 | uint64_t{d.sbo / 16} << 32;
  d.word |= static_cast<uint64_t>(code) << (is_tcgen05(arch) ? 61 : 62);
  if (is_tcgen05(arch)) d.word |= uint64_t{1} << 46 | uint64_t{d.crosses} << 52;
  return d;
}

}  // namespace detail

LAYOUTALG_FUNCTION Derivation derive(Arch arch, Type type, Major major, Swizzle swizzle, Tile tile, Mma mma,
                                     Options options = {}) {
  using namespace detail;
  const uint32_t bits = bits_of(type), per_16 = 128 / bits, window = window_bytes(arch);
  const bool is_k = major == Major::K, pieces_of_32 = swizzle == Swizzle::B128_base32B;
  const bool short_atom = options.atom == Atom::MN_SW128_32B_4ROWS;
  if (tile.mn == 0 || tile.k == 0 || tile.stages == 0 || mma.mn == 0 || mma.k == 0) return refused(Error::extent);
  if (!fits(tile, bits, options.capacity < window ? options.capacity : window)) return refused(Error::capacity);
  if (short_atom && (is_k || !pieces_of_32)) return refused(Error::atom);
  const Error illegal = legality(arch, type, major, swizzle, mma, options);
  if (illegal != Error::none) return refused(illegal);
  if (is_k && pieces_of_32) return refused(Error::atom);

  // 1. The tile: atoms of `rows` times `width` elements, one after the other (CuTe: tile_to_shape).
  const uint32_t width = row_bytes(swizzle) * 8 / bits, rows = short_atom ? 4 : 8;
  const uint32_t mn_atoms = tile.mn / (is_k ? rows : width), k_atoms = tile.k / (is_k ? width : rows);
  if (mn_atoms * (is_k ? rows : width) != tile.mn || k_atoms * (is_k ? width : rows) != tile.k)
    return refused(Error::whole_atoms);
  const bool mn_first = options.order == Order::MN_first || (options.order == Order::standard && is_k);
  const uint32_t mn_step = rows * width * (mn_first ? 1 : k_atoms), k_step = rows * width * (mn_first ? mn_atoms : 1);
  const Mode mn = is_k ? Mode{rows, width, mn_atoms, mn_step} : Mode{width, 1, mn_atoms, mn_step};
  const Mode k = is_k ? Mode{width, 1, k_atoms, k_step} : Mode{rows, width, k_atoms, k_step};

  // 2. Cut into what one instruction reads (CuTe: zipped_divide). 48 bytes of K are no part of a row that repeats: such
  // a tile is cut into columns of 16 bytes, of which an operand has three.
  if (tile.mn % mma.mn != 0 || tile.k % mma.k != 0) return refused(Error::whole_operands);
  const bool crosses = is_tcgen05(arch) && is_k && swizzle != Swizzle::none && uint64_t{mma.k} * bits == 384;
  const Cut mn_cut = cut(mn, mma.mn), k_cut = cut(k, crosses ? per_16 : mma.k);
  if (!mn_cut.whole || !k_cut.whole) return refused(Error::inside_atom);
  if ((is_k ? (crosses ? per_16 : mma.k) : mma.mn) % per_16 != 0) return refused(Error::whole_16_bytes);

  // 3. and 4. One operand in 16 bytes, in canonical form (PTX: tcgen05, Canonical layouts; W is the row in 16 bytes):
  //    K-major, none     ((8,m),(1,k)):((1,SBO),(-,LBO))     K-major, swizzled    ((8,m),(1,k)):((W,SBO),(-,1))
  //    MN-major, none    ((1,m),(8,k)):((-,SBO),(1,LBO))     MN-major, swizzled   ((W,m),(8,k)):((1,LBO),(W,SBO))
  //    of 128B_base32B   ((8,m),(4,k)):((1,LBO),(8,SBO))
  const uint32_t w = width / per_16;
  const Chunks of_mn = chunks(in_16_bytes(mn_cut.part, per_16), is_k ? 8 : w);
  const Chunks of_k = chunks(in_16_bytes(k_cut.part, per_16), is_k ? 1 : pieces_of_32 ? 4 : 8);
  const Chunks across = is_k ? of_mn : of_k;
  const bool fixed = (across.extent == 1 || across.step == w) && (!is_k || w == 1 || of_k.many == 1 || of_k.next == 1);
  if (!of_mn.canonical || !of_k.canonical || !fixed) return refused(crosses ? Error::inside_atom : Error::canonical);
  if (crosses && swizzle != Swizzle::B128) return refused(Error::crosses_atoms);

  // 5. The steps from operand to operand, and the word.
  const bool mn_leads = !is_k && swizzle != Swizzle::none;
  Derivation d;
  // CuTe writes 16 as the LBO of an operand with only 16 bytes of K, which the hardware does not read.
  d.lbo = crosses ? 0 : 16 * (mn_leads ? of_mn.next : is_k && of_k.many == 1 ? 1 : of_k.next);
  d.sbo = 16 * (mn_leads ? of_k.next : of_mn.next);
  d.alignment = alignment_bytes(swizzle);
  d.transposed = !is_k;
  d.mn_blocks = tile.mn / mma.mn;
  d.k_blocks = tile.k / mma.k;
  d.stages = tile.stages;
  d.window = window;
  d.crosses = crosses;
  d.mn_steps = in_16_bytes(mn_cut.rest, per_16);
  d.k_steps = in_16_bytes(k_cut.rest, per_16);
  d.stage_steps = {tile.stages, tile.mn * tile.k / per_16, 1, 0};
  return encoded(d, arch, swizzle);
}

}  // namespace layoutalg

#undef LAYOUTALG_FUNCTION
#endif  // LAYOUTALG_DESCRIPTOR_HPP
