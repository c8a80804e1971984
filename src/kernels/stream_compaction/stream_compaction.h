// compact: the elements whose flag is not 0, one behind the other, in their order.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::stream_compaction {

struct Args {
  const void* x = nullptr;         // (n)
  const uint8_t* flags = nullptr;  // (n)
  void* out = nullptr;             // (n), of which `count` are written
  int64_t* count = nullptr;        // (1)
  int64_t n = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

// With half of the elements kept.
constexpr double bytes(const Args& a) { return double(a.n) * (1.5 * double(size_of(a.dtype)) + 1); }

}  // namespace ridge::stream_compaction
