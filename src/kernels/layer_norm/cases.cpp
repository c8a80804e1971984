#include "ladder/cases.h"

#include <algorithm>
#include <cmath>

#include "kernels/layer_norm/layer_norm.h"
#include "ladder/family.h"

namespace ridge::layer_norm {
namespace {

// Even seeds, but for specials, give whole numbers whose sums are exact in any order, so that no
// column can be lost, or come twice, within a tolerance. Forward, a row and its mirror image are
// opposite, so that the mean is 0 and the squared distances are whole; backward, mean is whole and
// rstd a power of two.
bool is_far(const Case& c) { return c.distribution == "large_mean"; }
bool is_exact(const Case& c) { return c.seed % 2 == 0 && !c.specials && !is_far(c); }
// Every fifth case goes without weights.
bool has_weights(const Case& c) { return c.seed % 5 != 3; }

// One column has no deviation, so without epsilon its norm is 0 / 0, and a rounding makes it any
// number.
Status check(const Case& c) {
  if (is_backward(Op(c.op)) || !is_centred(Op(c.op)) || c.size("cols") != 1 ||
      c.number("epsilon") > 0)
    return Status::ok();
  return Error{2, "a row of one column takes an epsilon above 0"};
}

double small_int(const Case& c, uint64_t salt, int64_t index) {  // -4 … 4, without 0
  const int k = int(hash(c.seed * 8 + salt, uint64_t(index)) % 8);
  return k < 4 ? k - 4 : k - 3;
}

void workload(const Case& c, Workload& w) {
  const Op op = Op(c.op);
  const double rows = double(c.size("rows")), cols = double(c.size("cols"));
  const double one = rows * cols * double(size_of(c.dtype));
  if (!has_weights(c))
    std::erase_if(w.tensors,
                  [](const TensorSpec& t) { return t.name == "gamma" || t.name == "beta"; });
  w.cost.read = one * (is_backward(op) || is_added(op) ? 2 : 1);
  w.cost.written = one * (is_added(op) ? 2 : 1);
  for (TensorSpec& t : w.tensors) {
    if (t.name == "dsum") w.cost.read += one;
    if (t.role == Role::in) {
      t.fill = t.name == "rstd" ? Fill::positive : Fill::uniform;
      continue;
    }
    // Roundoffs of f32, worst case: sums one after another, n of them, or none where they are
    // exact; a root halves the error of the variance, and has two of its own. Then the distance,
    // three products and a sum. Magnitudes have what the mean is rounded relative to. Far from 0,
    // where the first rung is wrong anyhow, nobody else adds more than a warp's share.
    const double sums = is_exact(c) ? 0 : is_far(c) ? cols / 32 + 16 : cols;
    if (t.name == "y") t.arithmetic = 1.5 * sums + 10;
    if (t.name == "mean") t.arithmetic = sums + 2;
    if (t.name == "rstd") t.arithmetic = sums + 6;
    if (t.name == "dx") t.arithmetic = sums + 10;
    if (t.name == "dgamma") t.arithmetic = is_exact(c) ? 0 : rows + 4;
    if (t.name == "dbeta") t.arithmetic = is_exact(c) ? 0 : rows;
    if (is_exact(c) && (t.name == "dgamma" || t.name == "dbeta")) t.rounding = 0;
  }
}

// Each row shows one thing.
double special(const Case& c, int64_t index, int64_t cols) {
  const int64_t r = index / cols, col = index % cols;
  const double plain = small_int(c, 0, index);
  switch (r % 5) {
    case 0: return col == cols - 1 ? NAN : plain;
    case 1: return col == cols / 2 ? INFINITY : plain;
    case 2: return col == 0 ? -INFINITY : plain;
    case 3: return 3;  // no deviation at all: epsilon alone is under the root
    default: return col % 2 ? -0.0 : 0.0;
  }
}

// The tensor of a workload: cases leave out different ones.
const std::string& name_of(const Case& c, size_t tensor) {
  for (const TensorDef& def : c.def->tensors) {
    if (def.on_request && !c.has(def.name)) continue;
    if (!has_weights(c) && (def.name == "gamma" || def.name == "beta")) continue;
    if (tensor-- == 0) return def.name;
  }
  return c.def->name;
}

std::optional<double> exact(const Case& c, const std::string& name, int64_t index, int64_t cols) {
  if (is_backward(Op(c.op))) {
    if (name == "rstd") return std::exp2(double(hash(c.seed, uint64_t(index)) % 3) - 1);
    return small_int(c, name.size() + uint64_t(name[0]), index);
  }
  if (name != "x" && name != "residual") return std::nullopt;
  const int64_t row = index / cols, col = index % cols, mirror = cols - 1 - col;
  const double value = small_int(c, uint64_t(name[0]), row * cols + std::min(col, mirror));
  return col == mirror ? 0 : col < mirror ? value : -value;
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const int64_t cols = std::max<int64_t>(c.size("cols"), 1);
  const std::string& name = name_of(c, tensor);
  const bool forward = !is_backward(Op(c.op));
  if (is_far(c)) {
    if (name != "x") return std::nullopt;
    return (c.dtype == Dtype::f32 ? 1e4 : 1e3) + 2 * unit(hash(c.seed, uint64_t(index))) - 1;
  }
  if (c.specials) {
    if (name == (forward ? "x" : "dy")) return special(c, index, cols);
    return small_int(c, uint64_t(name[0]), index);
  }
  return is_exact(c) ? exact(c, name, index, cols) : std::nullopt;
}

const std::vector<int> kForward = {0, 1, 2, 3}, kBackward = {4, 5};

// All that there is on request.
std::vector<Case> with_all(std::vector<Case> cases) {
  for (Case& c : cases) {
    const Op op = Op(c.op);
    if (is_backward(op))
      c.with = c.seed % 3 ? std::vector<std::string>{} : std::vector<std::string>{"dsum"};
    else if (c.specials) continue;  // a NaN in a row says enough
    else if (is_centred(op)) c.with = {"mean", "rstd"};
    else c.with = {"rstd"};
  }
  return cases;
}

std::vector<Case> tests() {
  std::vector<Case> cases = with_all(crossed(
      {.ops = kForward, .dtypes = kFloats, .shapes = {{1, 1}, {67, 3}, {9, 33}, {5, 256}}}));
  append(cases, with_all(crossed({.ops = kBackward,
                                  .dtypes = kFloats,
                                  .shapes = {{0, 5}, {1, 1}, {67, 3}, {9, 33}, {5, 256}},
                                  .specials = false})));
  append(cases, crossed({.ops = {0, 1, 2, 3, 4, 5}, .shapes = {{0, 5}, {5, 0}}}));
  // The widths at which rows get more threads, and threads more packs.
  append(
      cases,
      with_all(crossed({.ops = {0, 3, 4},
                        .dtypes = {Dtype::f32, Dtype::bf16},
                        .shapes = {{3, 130}, {5, 517}, {2, 1031}, {2, 2056}, {1, 4100}, {1, 8192}},
                        .misalignments = {0},
                        .specials = false})));
  append(cases, with_all(crossed({.ops = {0, 2},
                                  .dtypes = {Dtype::f32, Dtype::f16},
                                  .shapes = {{1, 33001}},
                                  .misalignments = {1},
                                  .specials = false})));
  // Past the registers of a block; and the deepest of the backward pass.
  append(cases,
         with_all(crossed(
             {.ops = {0, 3}, .shapes = {{1, 60003}}, .misalignments = {0}, .specials = false})));
  append(cases, with_all(crossed({.ops = kBackward,
                                  .dtypes = {Dtype::bf16},
                                  .shapes = {{2, 12288}, {2, 12296}},
                                  .misalignments = {0},
                                  .specials = false})));
  // Several turns of the backward pass's blocks.
  append(cases, with_all(crossed({.ops = {4},
                                  .dtypes = {Dtype::f32, Dtype::bf16},
                                  .shapes = {{700, 24}, {1201, 3}, {801, 72}},
                                  .misalignments = {0},
                                  .specials = false})));
  // Every tensor at another distance from its boundary, and its rows at another distance from each
  // other. Odd and even seeds are two kinds of numbers.
  for (const int op : {0, 1, 2, 3, 4, 5})
    for (const Dtype dtype : kFloats)
      for (const auto& shape : Shapes{{9, 31}, {3, 517}})
        append(cases, with_all({{.op = op,
                                 .dtype = dtype,
                                 .shape = shape,
                                 .seed = 1 + uint64_t(dtype == Dtype::bf16),
                                 .skew = 1,
                                 .padding = 3,
                                 .padding_skew = op % 2}}));
  // In place.
  for (const Dtype dtype : {Dtype::f32, Dtype::f16})
    for (const auto& shape : Shapes{{5, 64}, {6, 333}})
      append(cases,
             {{.op = 0, .dtype = dtype, .shape = shape, .same = {{"y", "x"}}},
              {.op = 2, .dtype = dtype, .shape = shape, .same = {{"sum", "residual"}, {"y", "x"}}},
              {.op = 3, .dtype = dtype, .shape = shape, .same = {{"sum", "x"}, {"y", "residual"}}},
              {.op = 4, .dtype = dtype, .shape = shape, .same = {{"dx", "dy"}}},
              {.op = 5, .dtype = dtype, .shape = shape, .same = {{"dx", "x"}}}});
  // Any number of dimensions before the last, and other values of epsilon.
  append(cases,
         crossed({.ops = {0, 1, 2, 3, 4, 5}, .shapes = {{33}, {2, 3, 31}}, .specials = false}));
  append(cases, with_all(crossed({.ops = kForward,
                                  .shapes = {{3, 65}},
                                  .misalignments = {0},
                                  .specials = false,
                                  .parameters = {{"epsilon", 0.5}}})));
  // Numbers far from 0, with which the first rung is wrong.
  append(cases, with_all(crossed({.ops = {0, 2},
                                  .dtypes = {Dtype::f32, Dtype::f16},
                                  .shapes = {{5, 256}, {2, 1031}, {1, 8192}},
                                  .misalignments = {0},
                                  .specials = false,
                                  .distributions = {"large_mean"}})));
  return cases;
}

std::vector<Case> timings() {
  const Shapes real = {{65536, 4096},  {262144, 1024}, {32768, 8192},  {8192, 4096},
                       {2048, 131072}, {1 << 20, 128}, {1024, 262144}, {8191, 8193}};
  std::vector<Case> cases;
  for (const int op : {0, 1, 2, 3, 4, 5})
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
      for (const auto& shape : real)
        if (op == 0 || shape[1] == 1024 || shape[1] == 4096 || shape[1] == 8192)
          cases.push_back({.op = op, .dtype = dtype, .shape = shape});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "layer_norm and rms_norm along rows, also of a sum, forward and backward",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {256, 1024}},
          .input = input,
          .check = check};
}

}  // namespace ridge::layer_norm
