// warp_sum: out[r] = the sum of the 32 numbers in row r. A study of how lanes add up.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::warp_sum {

constexpr int kLanes = 32;

struct Args {
  const void* in = nullptr;  // (rows, 32)
  void* out = nullptr;       // (rows)
  int64_t rows = 0;
  int64_t in_stride = 0;  // elements from row to row
  Dtype dtype = Dtype::i32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

}  // namespace ridge::warp_sum
