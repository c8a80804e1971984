#include "ladder/cases.h"

#include <cmath>
#include <limits>

#include "kernels/gemv_t/gemv_t.h"
#include "ladder/family.h"

namespace ridge::gemv_t {
namespace {

enum Tensor : size_t { kA, kX, kY };

// Even seeds give small whole numbers, whose sums are exact in any order: then every bit must be
// right, and one element too many or too few cannot hide in a tolerance.
bool is_exact(const Case& c) { return c.seed % 2 == 0; }

void workload(const Case& c, Workload& w) {
  const double rows = double(c.size("rows")), cols = double(c.size("cols"));
  const double size = double(size_of(c.dtype));
  const bool reads_y = c.number("beta") != 0;
  for (TensorSpec& t : w.tensors) t.fill = is_exact(c) ? Fill::small_ints : Fill::uniform;
  TensorSpec& y = w["y"];
  y.role = reads_y ? Role::inout : Role::out;
  y.rounding = is_exact(c) ? 0 : 1;
  // Summed one after another, a sum of n products is rounded n times, each time by at most a
  // roundoff of what the magnitudes add up to; then alpha, beta and their sum. Products are not
  // rounded before they are added.
  y.arithmetic = is_exact(c) ? 0 : rows + 3;
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
  // Around a pack, and the widths at which lanes a row change; rows around a block's share, and
  // around a step of it.
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
          .input = input};
}

}  // namespace ridge::gemv_t
