// inclusive_scan, exclusive_scan, inclusive_max_scan, exclusive_max_scan: the sums, or the maxima,
// of all prefixes of a vector.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::scan {

enum class Combine : uint8_t { sum, max };

struct Args {
  const void* in = nullptr;  // (n)
  void* out = nullptr;       // (n); may be `in`
  int64_t n = 0;
  Combine combine = Combine::sum;
  bool inclusive = true;
  Dtype dtype = Dtype::i32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) { return 2.0 * double(a.n) * double(size_of(a.dtype)); }

}  // namespace ridge::scan
