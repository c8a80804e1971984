// vector_add_streamed: out = a + b, all three in host memory. Its time goes into copies: the link
// moves bytes both ways at once, so the bound is the slowest of copying in, adding and copying out.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::vector_add_streamed {

struct Args {
  const float* a = nullptr;  // (n), on the host
  const float* b = nullptr;  // (n), on the host
  float* out = nullptr;      // (n), on the host
  int64_t n = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // on the device
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

}  // namespace ridge::vector_add_streamed
