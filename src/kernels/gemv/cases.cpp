#include "ladder/cases.h"

#include <cmath>
#include <limits>

#include "kernels/gemv/gemv.h"
#include "ladder/family.h"
#include "ladder/product.h"

namespace ridge::gemv {
namespace {

enum Tensor : size_t { kA, kX, kY };

// y as a matrix of one column.
Product product_of(const Case& c) {
  const int64_t rows = c.size("rows"), cols = c.size("cols");
  return {.m = rows,
          .n = 1,
          .k = cols,
          .a = {.tensor = kA, .row_step = cols, .col_step = 1},
          .b = {.tensor = kX, .row_step = 1},
          .out = {.tensor = kY, .row_step = 1},
          .alpha = c.number("alpha"),
          .beta = c.number("beta")};
}
std::optional<Truth> truth_at(const Case& c, const Elements& inputs, size_t, int64_t index) {
  return product_truth(product_of(c), inputs, index, 0);
}
Proof proof(const Case& c, const Elements& inputs) {
  return product_proof(product_of(c), inputs, c.seed);
}

void workload(const Case& c, Workload& w) {
  const double rows = double(c.size("rows")), cols = double(c.size("cols"));
  const double size = double(size_of(c.dtype));
  const bool reads_y = c.number("beta") != 0;
  TensorSpec& y = w["y"];
  y.role = reads_y ? Role::inout : Role::out;
  // Summed one after another, a sum of n products is rounded n times, each time by at most a
  // roundoff of what the magnitudes add up to; then alpha, beta and their sum. Products are not
  // rounded before they are added.
  y.arithmetic = cols + 3;
  // With whole numbers every bit must be right: one element too many or too few cannot hide in a
  // tolerance. Specials stand among whole numbers of their own.
  if (c.exact && c.specials) y.rounding = y.arithmetic = 0;
  else if (c.exact) (void)fill_exactly(w, product_of(c));
  w.cost = {.read = (rows * cols + cols + (reads_y ? rows : 0)) * size,
            .written = rows * size,
            .flops = 2 * rows * cols};
}

// Specials stand in a few rows of A only: in x, one NaN would leave nothing else to see.
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (!c.specials) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const int64_t cols = std::max<int64_t>(c.shape[1], 1);
  const int64_t row = index / cols, col = index % cols;
  if (tensor != kA) return double(index % 3) - (tensor == kX ? 1 : 0);  // x has zeros
  const double plain = double((row * 5 + col * 3) % 7) - 3;
  switch (row % 6) {
    case 1: return col == cols - 1 ? NAN : plain;
    case 2: return col == 0 ? kInfinity : plain;
    case 3: return col == cols / 2 ? -kInfinity : plain;
    case 4: return col == 0 ? kInfinity : col == cols - 1 ? -kInfinity : plain;
    default: return plain;
  }
}

std::vector<Case> tests() {
  // Around a pack, a warp's and a block's share of packs, and the widths at which the
  // lanes per row change.
  std::vector<Case> cases = crossed({.dtypes = kFloats,
                                     .shapes = {{0, 5},
                                                {5, 0},
                                                {1, 1},
                                                {3, 7},
                                                {257, 9},
                                                {35, 48},
                                                {21, 200},
                                                {13, 260},
                                                {67, 127},
                                                {65, 128},
                                                {9, 129},
                                                {7, 1031},
                                                {5, 4096},
                                                {3, 8197}},
                                     .padding = {0, 3}});
  append(cases, crossed({.dtypes = kFloats,
                         .shapes = {{4, 0}, {33, 31}, {6, 2048}, {5, 4099}},
                         .padding = {0, 8},
                         .parameters = {{"alpha", 1.5}, {"beta", -0.5}}}));
  append(cases, crossed({// one row over many blocks; rows padded to other packs
                         .dtypes = kFloats,
                         .shapes = {{1, 70001}, {2, 65536}},
                         .specials = false}));
  for (Case& c : cases) c.exact = c.seed % 2 == 0;  // every other one
  return cases;
}

std::vector<Case> timings() {
  const Shapes real = {{16384, 16384}, {4096, 4096},   {8192, 28672}, {28672, 8192}, {1024, 131072},
                       {131072, 1024}, {16383, 16383}, {16, 1 << 20}, {1 << 20, 64}};
  std::vector<Case> cases;
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
    for (const auto& shape : real) cases.push_back({.dtype = dtype, .shape = shape});
  cases.push_back({.dtype = Dtype::f16, .shape = {16384, 16384}});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "y = alpha A x + beta y",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1024, 1024}},
          .input = input,
          .truth_at = truth_at,
          .proof = proof};
}

}  // namespace ridge::gemv
