// Reads the conformance suite of shared-memory descriptors, and runs a derivation against it: C++17, no library.
//
//   g++ -std=c++17 -O2 descriptors.cpp -o descriptors
//   ./descriptors descriptors.json
//
// Replace derive() by your own code. The one here has closed forms for tiles of canonical atoms; operands with K = 96 are
// not offered. The exit status is 1 if a descriptor is wrong.

#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

// A row is one line, with one object whose keys are in a fixed order; these functions find the value of a key.
static std::string after(const std::string& line, const std::string& key) {
  const size_t at = line.find("\"" + key + "\": ");
  return at == std::string::npos ? "" : line.substr(at + key.size() + 4);
}

static std::string text(const std::string& line, const std::string& key) {
  const std::string rest = after(line, key);
  return rest.empty() ? rest : rest.substr(1, rest.find('"', 1) - 1);
}

static std::vector<uint64_t> numbers(const std::string& line, const std::string& key) {
  std::vector<uint64_t> list;
  const std::string rest = after(line, key), inner = rest.substr(0, rest.find(']'));
  for (size_t at = inner.find_first_of("0123456789"); at != std::string::npos;) {
    size_t length = 0;
    list.push_back(std::stoull(inner.substr(at), &length));
    at = inner.find_first_of("0123456789", at + length);
  }
  return list;
}

static uint64_t hex(const std::string& line, const std::string& key) { return std::stoull(text(line, key), nullptr, 16); }

struct Words {
  uint64_t first, last;
};

// The descriptors of the first and of the last operand of a tile.
static std::optional<Words> derive(const std::string& row) {
  static const std::map<std::string, uint64_t> bits_of = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"e2m1", 4}};
  static const std::map<std::string, uint64_t> span_of = {
      {"none", 16}, {"32B", 32}, {"64B", 64}, {"128B", 128}, {"128B_BASE32B", 128}};
  static const std::map<std::string, uint64_t> sm90 = {{"none", 0}, {"128B", 1}, {"64B", 2}, {"32B", 3}};
  static const std::map<std::string, uint64_t> sm100 = {
      {"none", 0}, {"128B_BASE32B", 1}, {"128B", 2}, {"64B", 4}, {"32B", 6}};
  const std::string arch = text(row, "arch"), swizzle = text(row, "swizzle");
  const auto tile = numbers(row, "tile"), mma = numbers(row, "mma"), order = numbers(row, "order");
  if (mma[1] == 96) return std::nullopt;  // an operand that may cross atoms
  const bool k_major = text(row, "major") == "K", swizzled = swizzle != "none";
  const auto narrow = bits_of.find(text(row, "dtype"));
  const uint64_t bits = narrow == bits_of.end() ? 8 : narrow->second, span = span_of.at(swizzle), line = 8 * span / bits;

  // The atom: 8 rows of a line. Its copies are stacked along MN first or along K first.
  const uint64_t n0 = k_major ? 8 : line, d0 = k_major ? line : 1, n1 = k_major ? line : 8, d1 = k_major ? 1 : line;
  const uint64_t copies0 = tile[0] / n0, copies1 = tile[1] / n1, atom = 8 * line;
  const bool mn_first = order[0] < order[1];
  const uint64_t next0 = mn_first ? atom : atom * copies1, next1 = mn_first ? atom * copies0 : atom;
  const uint64_t mn_bytes = next0 * bits / 8, k_bytes = next1 * bits / 8;
  const uint64_t leading = k_major ? (swizzled ? 16 : k_bytes) : (swizzled ? mn_bytes : k_bytes);
  const uint64_t stride = k_major || !swizzled ? mn_bytes : swizzle == "128B_BASE32B" ? 512 : k_bytes;

  const uint64_t base = numbers(row, "base")[0], repeats = swizzle == "128B_BASE32B" ? 1024 : swizzled ? 8 * span : 16;
  const uint64_t base_offset = base % repeats ? base / 128 % 8 : 0;
  const auto start = [&](uint64_t i, uint64_t j, uint64_t stage) {
    const uint64_t offset = i % n0 * d0 + i / n0 * next0 + j % n1 * d1 + j / n1 * next1 + stage * tile[0] * tile[1];
    return base + offset * bits / 8;
  };
  const auto word = [&](uint64_t address) {
    uint64_t fields = address / 16 | leading / 16 << 16 | stride / 16 << 32 | base_offset << 49;
    return fields | (arch == "sm90" ? sm90.at(swizzle) << 62 : uint64_t(1) << 46 | sm100.at(swizzle) << 61);
  };
  const uint64_t stages = tile.size() > 2 ? tile[2] : 1;
  return Words{word(start(0, 0, 0)), word(start(tile[0] - mma[0], tile[1] - mma[1], stages - 1))};
}

int main(int argc, char** argv) {
  std::ifstream file(argc > 1 ? argv[1] : "descriptors.json");
  if (!file) return std::cerr << "descriptors: the file cannot be read\n", 2;
  std::map<std::string, std::vector<int>> counts;  // right, wrong, not offered
  int rows = 0, refused = 0, wrong = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 12, "    {\"arch\":") != 0) continue;
    ++rows;
    if (after(line, "word").empty()) {
      ++refused;
      continue;
    }
    auto& counted = counts.try_emplace(text(line, "arch"), 3, 0).first->second;
    const auto words = derive(line);
    const uint64_t read = ~hex(line, "ignored");
    if (!words) {
      ++counted[2];
    } else if (((words->first ^ hex(line, "word")) & read) || ((words->last ^ hex(line, "last")) & read)) {
      ++counted[1];
      ++wrong;
      std::cout << "WRONG: " << line << "\n   derived 0x" << std::hex << words->first << " and 0x" << words->last
                << std::dec << "\n";
    } else {
      ++counted[0];
    }
  }
  for (const auto& [arch, counted] : counts)
    std::cout << arch << ": " << counted[0] << " right, " << counted[1] << " wrong, " << counted[2] << " not offered\n";
  std::cout << rows << " rows, " << refused << " of them refused and not compared\n";
  return wrong ? 1 : 0;
}
