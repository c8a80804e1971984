#include "vm/observe/sample.h"

namespace ridge::vm::observe {
namespace {

// SplitMix64.
uint64_t next(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

}  // namespace

std::vector<uint64_t> sample_blocks(uint64_t blocks, uint64_t count, uint64_t seed) {
  std::vector<uint64_t> chosen;
  chosen.reserve(count);
  // Pieces differ by at most one block; no product here can overflow.
  const uint64_t small = blocks / count, larger = blocks % count;
  uint64_t begin = 0;
  for (uint64_t k = 0; k < count; ++k) {
    const uint64_t size = small + (k < larger);
    chosen.push_back(begin + next(seed) % size);
    begin += size;
  }
  return chosen;
}

}  // namespace ridge::vm::observe
