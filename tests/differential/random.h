// Numbers from a seed, the same on every machine and with every standard library.
#pragma once

#include <cstdint>
#include <span>

namespace ridge::differential {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {  // splitmix64
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
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
