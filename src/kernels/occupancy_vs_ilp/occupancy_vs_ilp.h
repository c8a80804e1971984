// occupancy_vs_ilp: y = x / 2 + x after x / 2 + x after …, `steps` times: chains of multiply-adds,
// each waiting for the one before. A study of what hides that wait: other warps, or other chains.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::occupancy_vs_ilp {

struct Args {
  const float* x = nullptr;  // (n)
  float* y = nullptr;        // (n); y = 0, then y = y / 2 + x
  int64_t n = 0;
  int steps = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

}  // namespace ridge::occupancy_vs_ilp
