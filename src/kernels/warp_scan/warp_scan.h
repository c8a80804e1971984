// warp_scan: out(r, c) = in(r, 0) + … + in(r, c), in rows of 32. A study of how lanes pass sums on.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::warp_scan {

constexpr int kLanes = 32;

struct Args {
  const void* in = nullptr;  // (rows, 32)
  void* out = nullptr;       // (rows, 32)
  int64_t rows = 0;
  int64_t in_stride = 0, out_stride = 0;  // elements from row to row
  Dtype dtype = Dtype::i32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

}  // namespace ridge::warp_scan
