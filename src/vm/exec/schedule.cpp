#include "vm/exec/schedule.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "core/mix.h"

namespace ridge::vm {
namespace {

uint64_t mix(uint64_t x) { return next_mixed(x); }

}  // namespace

uint64_t Schedule::wanted_seed() {
  static const uint64_t seed = [] {
    const char* text = std::getenv("RIDGE_SCHEDULE");
    return text ? uint64_t(std::strtoull(text, nullptr, 10)) : 0;
  }();
  return seed;
}

uint64_t Schedule::draw() {
  return mix(mix(seed_) + draws_.fetch_add(1, std::memory_order_relaxed));
}

// From an instruction or two, which parts what is meant to be together, to a whole interval.
uint32_t Schedule::turn() {
  const uint64_t x = draw();
  return 1 + uint32_t(x >> 8) % (2u << (x & 3) * 4);
}

void Schedule::shuffle(std::span<uint32_t> order) {
  for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[draw() % k]);
}

uint64_t Schedule::block(uint64_t k, uint64_t blocks, uint64_t window) const {
  const uint64_t first = k / window * window, size = std::min(window, blocks - first);
  const uint64_t x = mix(seed_ ^ mix(first));
  uint64_t step = 1 + x % size;
  while (std::gcd(step, size) != 1) ++step;
  return first + ((k - first) * step + (x >> 32)) % size;
}

}  // namespace ridge::vm
