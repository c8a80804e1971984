// Numbers from a seed, the same on every machine and with every standard library.
#pragma once

#include <cstdint>
#include <span>

#include "core/mix.h"

namespace ridge::differential {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() { return next_mixed(state_); }
  uint32_t below(uint32_t n) { return uint32_t((next() >> 32) * n >> 32); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  template <class T, size_t N>
  const T& pick(const T (&list)[N]) {
    return list[below(N)];
  }
  template <class T>
  const T& pick(std::span<const T> list) {
    return list[below(uint32_t(list.size()))];
  }

 private:
  uint64_t state_;
};

}  // namespace ridge::differential
