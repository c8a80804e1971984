// rainbow_table: the ends of chains of hashes. out[i] is key i hashed `rounds` times.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::rainbow_table {

// FNV-1a of the key's four bytes, lowest first.
constexpr uint32_t kBasis = 2166136261u, kPrime = 16777619u;
__host__ __device__ constexpr uint32_t hashed(uint32_t key) {
  uint32_t hash = kBasis;
  for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (key >> (8 * byte) & 255)) * kPrime;
  return hash;
}
static_assert(hashed(0x64636261) == 0xce3479bd);  // of "abcd"
constexpr double kOperations = 8;                 // of a round: four exclusive ors, four products

struct Args {
  const void* keys = nullptr;  // (n)
  void* out = nullptr;         // (n)
  int64_t n = 0;
  int rounds = 0;
  Dtype dtype = Dtype::u32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

}  // namespace ridge::rainbow_table
