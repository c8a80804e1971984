// Products of matrices, for the families that compute one: the true value of single elements, whole
// numbers as inputs with which a product is exact, and a proof that finds a wrong element anywhere.
#pragma once

#include <optional>

#include "ladder/elements.h"

namespace ridge {

// A matrix in a tensor: (row, col) is element first + row * row_step + col * col_step of it,
// counted in the order of the tensor's shape.
struct MatrixIn {
  size_t tensor = 0;
  int64_t row_step = 0, col_step = 0;
  int64_t first = 0;
};

// out (m, n) = alpha a (m, k) b (k, n) + beta c (m, n), where c is what out was unless it is given.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  MatrixIn a, b, out;
  std::optional<MatrixIn> c = {};
  double alpha = 1, beta = 0;  // with beta = 0, c is not read

  const MatrixIn& added() const { return c ? *c : out; }
};

Truth product_truth(const Product& product, const Elements& inputs, int64_t row, int64_t col);

// Fills a, b, c and out with whole numbers for which every sum is exact in f32, in any order, and
// the result is exact in its own format. Then `out` is compared bit for bit, and product_proof
// applies. Returns whether there are such numbers; if not, the workload stays as it was. The
// numbers are -4 … 4 without 0 if they fit, else -1 and 1, so that a product that is left out is
// noticed. If the format has room for few terms only (bf16 holds whole numbers up to 256), most of
// a is 0: then an error in a single row may not show, but an error in many rows does.
bool fill_exactly(Workload& workload, const Product& product);

// Freivalds' check, for workloads that fill_exactly made.
Proof product_proof(const Product& product, const Elements& inputs, uint64_t seed);

}  // namespace ridge
