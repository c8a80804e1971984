// inclusive_segmented_scan, exclusive_segmented_scan: sums that start again at every head.
// inclusive_scan_by_key, exclusive_scan_by_key: … wherever the key differs from the one before.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::segmented_scan {

// The first element starts a segment, whatever its mark says.
struct Args {
  const void* in = nullptr;        // (n)
  const uint8_t* heads = nullptr;  // (n): not 0 where a segment starts; or null, and
  const int32_t* keys = nullptr;   // (n): different from the one before
  void* out = nullptr;             // (n); may be `in`
  int64_t n = 0;
  bool inclusive = true;
  Dtype dtype = Dtype::i32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  return double(a.n) * (2.0 * double(size_of(a.dtype)) + (a.keys ? 4 : 1));
}

}  // namespace ridge::segmented_scan
