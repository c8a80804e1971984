// gemm: d = alpha a b + beta c, for a batch of matrices.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::gemm {

// Matrices of one size. Element (row, col) of matrix i is at data[i * batch_step + row * row_step +
// col * col_step]. For a and b, one of row_step and col_step is 1, or the matrix is one element
// wide there.
struct Matrices {
  const void* data = nullptr;
  int64_t row_step = 0, col_step = 0, batch_step = 0;  // elements
};

// Products are summed in f32. With beta = 0, c is not read: whatever is there, even NaN, is lost.
// The columns of d are contiguous: where they are not, `bind` asks for the transposed product.
struct Args {
  Matrices a;                            // (batch, m, k)
  Matrices b;                            // (batch, k, n)
  Matrices c;                            // (batch, m, n)
  void* d = nullptr;                     // (batch, m, n)
  int64_t d_step = 0, d_batch_step = 0;  // elements from row to row, and from matrix to matrix
  int64_t batch = 0, m = 0, n = 0, k = 0;
  float alpha = 1, beta = 0;
  Dtype dtype = Dtype::f32;   // of a and b
  Dtype result = Dtype::f32;  // of c and d: dtype, or f32
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr bool is_empty(const Args& a) { return a.batch == 0 || a.m == 0 || a.n == 0; }
constexpr double flops(const Args& a) {
  return 2.0 * double(a.batch) * double(a.m) * double(a.n) * double(a.k);
}

}  // namespace ridge::gemm
