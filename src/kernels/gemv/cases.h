// What the cases of gemv and gemv_t share: y = alpha op(A) x + beta y, where op(A) is A or its
// transpose.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "ladder/cases.h"
#include "ladder/product.h"

namespace ridge::gemv {

enum : size_t { kA, kX, kY };  // tensors

// y as a matrix of one column.
template <bool kTransposed>
Product product_of(const Case& c) {
  const int64_t rows = c.size("rows"), cols = c.size("cols");
  return {
      .m = kTransposed ? cols : rows,
      .n = 1,
      .k = kTransposed ? rows : cols,
      .a = {.tensor = kA, .row_step = kTransposed ? 1 : cols, .col_step = kTransposed ? cols : 1},
      .b = {.tensor = kX, .row_step = 1},
      .out = {.tensor = kY, .row_step = 1},
      .alpha = c.number("alpha"),
      .beta = c.number("beta")};
}
template <bool kTransposed>
std::optional<Truth> truth_at(const Case& c, const Elements& inputs, size_t, int64_t index) {
  return product_truth(product_of<kTransposed>(c), inputs, index, 0);
}
template <bool kTransposed>
Proof proof(const Case& c, const Elements& inputs) {
  return product_proof(product_of<kTransposed>(c), inputs, c.seed);
}

template <bool kTransposed>
void workload(const Case& c, Workload& w) {
  const Product product = product_of<kTransposed>(c);
  const double results = double(product.m), summed = double(product.k);
  const double size = double(size_of(c.dtype));
  const bool reads_y = c.number("beta") != 0;
  TensorSpec& y = w["y"];
  y.role = reads_y ? Role::inout : Role::out;
  // Summed one after another, a sum of n products is rounded n times, each time by at most a
  // roundoff of what the magnitudes add up to; then alpha, beta and their sum. Products are not
  // rounded before they are added.
  y.arithmetic = summed + 3;
  // With whole numbers every bit must be right: one element too many or too few cannot hide in a
  // tolerance. Specials stand among whole numbers of their own.
  if (c.exact && c.specials) y.rounding = y.arithmetic = 0;
  else if (c.exact) (void)fill_exactly(w, product);
  w.cost = {.read = (results * summed + summed + (reads_y ? results : 0)) * size,
            .written = results * size,
            .flops = 2 * results * summed};
}

// Specials stand in the sums of a few results only: in x, one NaN would leave nothing else to see.
template <bool kTransposed>
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (!c.specials) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (tensor != kA) return double(index % 3) - (tensor == kX ? 1 : 0);  // x has zeros
  const int64_t rows = c.shape[0], cols = std::max<int64_t>(c.shape[1], 1);
  const int64_t row = index / cols, col = index % cols;
  const int64_t result = kTransposed ? col : row, at = kTransposed ? row : col;
  const int64_t last = (kTransposed ? rows : cols) - 1;
  const double plain = double((row * 5 + col * 3) % 7) - 3;
  switch (result % 6) {
    case 1: return at == last ? NAN : plain;
    case 2: return at == 0 ? kInfinity : plain;
    case 3: return at == (last + 1) / 2 ? -kInfinity : plain;
    case 4: return at == 0 ? kInfinity : at == last ? -kInfinity : plain;
    default: return plain;
  }
}

inline std::vector<Case> timings() {
  const Shapes real = {{16384, 16384}, {4096, 4096},   {8192, 28672}, {28672, 8192}, {1024, 131072},
                       {131072, 1024}, {16383, 16383}, {16, 1 << 20}, {1 << 20, 64}};
  std::vector<Case> cases;
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
    for (const auto& shape : real) cases.push_back({.dtype = dtype, .shape = shape});
  cases.push_back({.dtype = Dtype::f16, .shape = {16384, 16384}});
  return cases;
}

}  // namespace ridge::gemv
