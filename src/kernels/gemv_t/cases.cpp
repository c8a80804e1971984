#include "ladder/cases.h"

#include <cmath>
#include <limits>

#include "kernels/gemv_t/gemv_t.h"
#include "ladder/family.h"
#include "ladder/product.h"

namespace ridge::gemv_t {
namespace {

enum Tensor : size_t { kA, kX, kY };

// The transpose of A times a matrix of one column.
Product product_of(const Case& c) {
  const int64_t rows = c.size("rows"), cols = c.size("cols");
  return {.m = cols,
          .n = 1,
          .k = rows,
          .a = {.tensor = kA, .row_step = 1, .col_step = cols},
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
  y.arithmetic = rows + 3;
  // With whole numbers every bit must be right: one element too many or too few cannot hide in a
  // tolerance. Specials stand among whole numbers of their own.
  if (c.exact && c.specials) y.rounding = y.arithmetic = 0;
  else if (c.exact) (void)fill_exactly(w, product_of(c));
  w.cost = {.read = (rows * cols + rows + (reads_y ? cols : 0)) * size,
            .written = cols * size,
            .flops = 2 * rows * cols};
}

// Specials stand in a few columns of A only: in x, one NaN would leave nothing else to see.
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (!c.specials) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const int64_t cols = std::max<int64_t>(c.shape[1], 1);
  const int64_t row = index / cols, col = index % cols, rows = c.shape[0];
  if (tensor != kA) return double(index % 3) - (tensor == kX ? 1 : 0);  // x has zeros
  const double plain = double((row * 5 + col * 3) % 7) - 3;
  switch (col % 6) {
    case 1: return row == rows - 1 ? NAN : plain;
    case 2: return row == 0 ? kInfinity : plain;
    case 3: return row == rows / 2 ? -kInfinity : plain;
    case 4: return row == 0 ? kInfinity : row == rows - 1 ? -kInfinity : plain;
    default: return plain;
  }
}

std::vector<Case> tests() {
  // Around a pack, and the widths at which the lanes per row change; rows around a block's share,
  // and around a step of it.
  std::vector<Case> cases = crossed({.dtypes = kFloats,
                                     .shapes = {{5, 0},
                                                {0, 5},
                                                {1, 1},
                                                {7, 3},
                                                {259, 9},
                                                {127, 67},
                                                {31, 256},
                                                {33, 511},
                                                {1031, 17},
                                                {70, 1040},
                                                {1, 21},
                                                {47, 505},
                                                {97, 513}},
                                     .padding = {0, 3}});
  append(cases, crossed({.dtypes = kFloats,
                         .shapes = {{0, 4}, {31, 33}, {300, 72}},
                         .padding = {0, 8},
                         .parameters = {{"alpha", 1.5}, {"beta", -0.5}}}));
  append(cases, crossed({// many slices
                         .dtypes = kFloats,
                         .shapes = {{20011, 8}, {4099, 24}, {2311, 509}, {1201, 1016}},
                         .specials = false}));
  cases.push_back({.shape = {131, 68001}, .seed = 2});  // tiles for all SMs, and slices of them
  for (Case& c : cases) c.exact = c.seed % 2 == 0;      // every other one
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
  return {.summary = "y = alpha transpose(A) x + beta y",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1024, 1024}},
          .input = input,
          .truth_at = truth_at,
          .proof = proof};
}

}  // namespace ridge::gemv_t
