// Numbers that look random and are the same in every run (SplitMix64), and hashes of records.
#pragma once

#include <cstdint>

namespace ridge {

inline constexpr uint64_t kMixStep = 0x9e3779b97f4a7c15u;  // 2^64 over the golden ratio, odd

// Every bit of the result depends on every bit of z.
constexpr uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The next number of a sequence; `state` starts anywhere.
constexpr uint64_t next_mixed(uint64_t& state) { return mixed(state += kMixStep); }

// FNV-1a, by which records name their results: starts with kFnvStart and takes one word after the
// other.
inline constexpr uint64_t kFnvStart = 0xcbf29ce484222325u;
constexpr uint64_t fnv1a(uint64_t hash, uint64_t word) { return (hash ^ word) * 0x100000001b3u; }

}  // namespace ridge
