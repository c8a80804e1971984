// matmul_by_shuffles: c[b] = a[b] · b[b] for many products of 32 x 32, one warp per product. A
// study of where a warp should keep what its lanes share.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::matmul_by_shuffles {

constexpr int kEdge = 32;
constexpr int kElements = kEdge * kEdge;

struct Args {
  const float* a = nullptr;  // (batch, 32, 32)
  const float* b = nullptr;  // (batch, 32, 32)
  float* c = nullptr;        // (batch, 32, 32)
  int64_t batch = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

}  // namespace ridge::matmul_by_shuffles
