// topk: the k largest (or smallest) elements of each row, and where they are.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::topk {

constexpr int kMostK = 2048;

struct Args {
  const void* x = nullptr;     // (rows, cols)
  void* values = nullptr;      // (rows, k)
  int32_t* indices = nullptr;  // (rows, k)
  int64_t rows = 0, cols = 0;
  int k = 0;
  int64_t x_stride = 0, values_stride = 0, indices_stride = 0;  // elements from row to row
  bool largest = true, sorted = true;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  return double(a.rows) * (double(a.cols) * double(size_of(a.dtype)) +
                           double(a.k) * (double(size_of(a.dtype)) + sizeof(int32_t)));
}

}  // namespace ridge::topk
