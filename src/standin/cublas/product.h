// C = alpha A B + beta C for matrices of any steps: what gemm and the batched gemv come down to.
#pragma once

#include "standin/cublas/arguments.h"

namespace ridge::cublas {

struct Product {
  Size size;          // of C: rows, columns, matrices
  int64_t inner = 0;  // columns of A and rows of B
  Matrices a, b, c;   // A and B have one format; C has it, too, or is f32
  Scalar alpha, beta;
};
Status run(const Context& context, const Product& product);

// The bytes from the first to behind the last element. Empty for matrices behind pointers.
struct Range {
  const char *begin = nullptr, *end = nullptr;
};
Range range_of(const Matrices& m, const Size& size);
inline bool overlap(const Range& a, const Range& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace ridge::cublas
