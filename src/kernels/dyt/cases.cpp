#include "ladder/cases.h"

#include "kernels/dyt/dyt.h"
#include "ladder/family.h"

namespace ridge::dyt {
namespace {

enum Op { kForward, kBackward };

void workload_backward(const Case& c, Workload& w) {
  const double rows = double(c.size("rows")), cols = double(c.size("cols"));
  const double size = double(size_of(c.dtype));
  w["x"].fill = Fill::spread;
  w["alpha"].fill = Fill::positive;
  // An exponential and a reciprocal of 3 units each, the latter squared, and five products. A
  // column's sums are rounded once for each of its terms at most; dalpha adds those of all columns,
  // 256 at a time, in a tree.
  w["dx"].arithmetic = 16;
  w["dgamma"].arithmetic = rows + 16;
  w["dbeta"].arithmetic = rows;
  w["dalpha"].arithmetic = rows + cols / 256 + 40;
  w.cost = {.read = (2 * rows + 1) * cols * size + 4, .written = rows * cols * size + 8 * cols + 4};
}

void workload(const Case& c, Workload& w) {
  if (c.op == kBackward) return workload_backward(c, w);
  const double rows = double(c.size("rows")), cols = double(c.size("cols"));
  const double size = double(size_of(c.dtype));
  w["x"].fill = Fill::spread;
  w["alpha"].fill = Fill::positive;
  // The tanh of two-byte formats is off by at most an eighth of their unit roundoff
  // (device/activations.cuh), that of f32 by 4 units; then the product with alpha, the one with
  // gamma, and the sum.
  w["y"].rounding = c.dtype == Dtype::f32 ? 1 : 1.125;
  w["y"].arithmetic = 7;
  w.cost = {.read = (rows + 2) * cols * size + 4, .written = rows * cols * size};
}

// Specials stand in x and beta: an infinite gamma times a tanh that f32 has no number for is NaN,
// where the truth is infinite.
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const std::string& name = c.def->tensors[tensor].name;
  if (!c.specials || (name != "alpha" && name != "gamma")) return std::nullopt;
  return 0.5 + unit(hash(c.seed + tensor, uint64_t(index)));
}

// Around a pack, around a block's share of a row, and rows around the number that a thread takes.
const Shapes kShapes = {{0, 5},  {5, 0},  {1, 1},   {3, 7},    {4, 8},     {5, 9},
                        {7, 64}, {9, 33}, {2, 257}, {13, 512}, {37, 1031}, {3, 2056}};

std::vector<Case> tests() {
  std::vector<Case> cases = crossed({.dtypes = kFloats, .shapes = kShapes, .padding = {0, 3, 8}});
  append(cases, crossed({.dtypes = kFloats,
                         .shapes = {{4, 64}, {6, 333}},
                         .skew = 1,
                         .padding_skew = 1,
                         .specials = false}));
  append(cases, crossed({.dtypes = kFloats,
                         .shapes = {{5, 64}, {6, 333}},
                         .specials = false,
                         .same = {{"y", "x"}}}));
  // Around a warp's rows, a block's and several slices of them; NaN and Inf would leave no sum.
  Shapes shapes = kShapes;
  shapes.insert(shapes.end(), {{33, 40}, {70, 264}, {700, 24}, {1201, 3}});
  append(cases, crossed({.ops = {kBackward},
                         .dtypes = kFloats,
                         .shapes = shapes,
                         .padding = {0, 3, 8},
                         .specials = false}));
  append(cases, crossed({.ops = {kBackward},
                         .dtypes = kFloats,
                         .shapes = {{40, 64}, {41, 333}},
                         .specials = false,
                         .same = {{"dx", "dy"}}}));
  return cases;
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::bf16, .shape = {65536, 4096}},
          {.dtype = Dtype::f32, .shape = {65536, 4096}},
          {.dtype = Dtype::bf16, .shape = {8192, 1024}},
          {.dtype = Dtype::bf16, .shape = {8191, 8193}},
          {.op = kBackward, .dtype = Dtype::bf16, .shape = {65536, 4096}},
          {.op = kBackward, .dtype = Dtype::f32, .shape = {65536, 4096}},
          {.op = kBackward, .dtype = Dtype::bf16, .shape = {8192, 1024}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "dynamic tanh: y = gamma tanh(alpha x) + beta",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::bf16, .shape = {256, 2048}},
          .input = input};
}

}  // namespace ridge::dyt
