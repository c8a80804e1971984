// match_redux: how often each key occurs among the 32 of its group, and the most frequent key's
// count in each group. A study of lanes that look for their equals.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::match_redux {

constexpr int kLanes = 32;

struct Args {
  const uint32_t* keys = nullptr;  // (n)
  uint32_t* counts = nullptr;      // (n)
  uint32_t* most = nullptr;        // (n / 32, rounded up)
  int64_t n = 0;
  Dtype dtype = Dtype::u32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr int64_t groups(int64_t n) { return (n + kLanes - 1) / kLanes; }

}  // namespace ridge::match_redux
