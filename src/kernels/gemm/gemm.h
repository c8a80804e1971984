// gemm: d = alpha a b + beta c, for a batch of matrices.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::gemm {

enum Kind { kGemm, kFused, kSwiglu };  // the operators
enum Precision { kFull, kTf32 };       // of products in f32

// Matrices of one size. Element (row, col) of matrix i is at data[i * batch_step + row * row_step +
// col * col_step]. For a and b, one of row_step and col_step is 1, or the matrix is one element
// wide there.
struct Matrices {
  const void* data = nullptr;
  int64_t row_step = 0, col_step = 0, batch_step = 0;  // elements
};

// A vector for each matrix of the batch, with its elements one after another.
struct Vectors {
  const void* data = nullptr;  // none: the call does not ask for it
  int64_t batch_step = 0;      // elements
};

enum class Activation : uint8_t { none, relu, gelu, gelu_tanh, silu };

// What a call asks for beside alpha and beta: d = activation(scales (alpha a b) + bias) + beta c.
struct Epilogue {
  Vectors row_scale;  // f32 (batch, m)
  Vectors col_scale;  // f32 (batch, n)
  Vectors bias;       // (batch, n), in the format of d
  Activation activation = Activation::none;
  // d has n / 2 columns: silu(gate) up of the neighbours gate and up, which have even and odd
  // columns. There is no other activation then, and no c.
  bool swiglu = false;
  float* amax = nullptr;  // (batch, m): the largest |d| of each row. 0 before the launch.
  int64_t amax_step = 0;  // from matrix to matrix

  __host__ __device__ constexpr bool is_plain() const {
    return !row_scale.data && !col_scale.data && !bias.data && activation == Activation::none &&
           !swiglu && !amax;
  }
};

// Products are summed in f32. With beta = 0, c is not read: whatever is there, even NaN, is lost.
// The columns of d are contiguous: where they are not, `bind` asks for the transposed product.
struct Args {
  Matrices a;                            // (batch, m, k)
  Matrices b;                            // (batch, k, n)
  Matrices c;                            // (batch, m, n)
  void* d = nullptr;                     // (batch, m, n), or (batch, m, n / 2) with swiglu
  int64_t d_step = 0, d_batch_step = 0;  // elements from row to row, and from matrix to matrix
  int64_t batch = 0, m = 0, n = 0, k = 0;
  float alpha = 1, beta = 0;
  Epilogue epilogue;
  Dtype dtype = Dtype::f32;   // of a and b
  Dtype result = Dtype::f32;  // of c and d: dtype, or f32
  bool may_round = false;     // factors in f32 may be rounded to tf32
  int variant = -1;           // of the rung; -1: the one that it predicts to be fastest
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr bool is_empty(const Args& a) { return a.batch == 0 || a.m == 0 || a.n == 0; }
constexpr int64_t columns_of_d(const Args& a) { return a.epilogue.swiglu ? a.n / 2 : a.n; }
constexpr double flops(const Args& a) {
  return 2.0 * double(a.batch) * double(a.m) * double(a.n) * double(a.k);
}

}  // namespace ridge::gemm
