#include "ladder/cases.h"

#include <algorithm>
#include <cmath>

#include "kernels/group_norm/group_norm.h"
#include "ladder/family.h"

namespace ridge::group_norm {
namespace {

// Even seeds, but for specials, give whole numbers whose sums are exact in any order, so that no
// element can be lost, or come twice, within a tolerance. Forward, a row and its mirror image are
// opposite, so that the mean is 0; backward, mean is whole and rstd a power of two.
bool is_far(const Case& c) { return c.distribution == "large_mean"; }
bool is_exact(const Case& c) { return c.seed % 2 == 0 && !c.specials && !is_far(c); }
bool is_backward(const Case& c) { return c.op == 1; }
// Every fifth case goes without weights.
bool has_weights(const Case& c) { return c.seed % 5 != 3; }
int64_t cols_of(const Case& c) { return c.size("depth") * c.size("inner"); }

double small_int(const Case& c, uint64_t salt, int64_t index) {  // -4 … 4, without 0
  const int k = int(hash(c.seed * 8 + salt, uint64_t(index)) % 8);
  return k < 4 ? k - 4 : k - 3;
}
double power_of_two(const Case& c, int64_t index) {  // 0.5, 1 or 2
  return std::exp2(double(hash(c.seed, uint64_t(index)) % 3) - 1);
}

void workload(const Case& c, Workload& w) {
  const double cols = double(cols_of(c)), rows = double(c.size("n")) * double(c.size("groups"));
  const double of_channel = double(c.size("n")) * double(c.size("inner"));
  const double one = rows * cols * double(size_of(c.dtype));
  if (!has_weights(c))
    std::erase_if(w.tensors,
                  [](const TensorSpec& t) { return t.name == "gamma" || t.name == "beta"; });
  w.cost.read = one * (is_backward(c) ? 2 : 1);
  w.cost.written = one;
  for (TensorSpec& t : w.tensors) {
    t.fill = t.name == "rstd" ? Fill::positive : Fill::uniform;
    if (t.role == Role::in) continue;
    // Roundoffs of f32, worst case: sums one after another, or none where they are exact; a root
    // halves the error of the variance, and has two of its own. Then the distance, three products
    // and a sum. Magnitudes have what the mean is rounded relative to. Far from 0, where the first
    // rung is wrong anyhow, nobody else adds more than a warp's share.
    const double sums = is_exact(c) ? 0 : is_far(c) ? cols / 32 + 16 : cols;
    if (t.name == "y") t.arithmetic = 1.5 * sums + 10;
    if (t.name == "mean") t.arithmetic = sums + 2;
    if (t.name == "rstd") t.arithmetic = sums + 6;
    if (t.name == "dx") t.arithmetic = sums + 12;
    if (t.name == "dgamma") t.arithmetic = is_exact(c) ? 0 : of_channel + 4;
    if (t.name == "dbeta") t.arithmetic = is_exact(c) ? 0 : of_channel;
    if (is_exact(c) && (t.name == "dgamma" || t.name == "dbeta")) t.rounding = 0;
  }
}

// Each row shows one thing.
double special(const Case& c, int64_t index) {
  const int64_t cols = cols_of(c), r = index / cols, col = index % cols;
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

std::optional<double> exact(const Case& c, const std::string& name, int64_t index) {
  if (is_backward(c)) {
    if (name == "rstd") return power_of_two(c, index);
    return small_int(c, name.size() + uint64_t(name[0]), index);
  }
  if (name != "x") return std::nullopt;
  const int64_t cols = cols_of(c), row = index / cols, col = index % cols, mirror = cols - 1 - col;
  const double value = small_int(c, 1, row * cols + std::min(col, mirror));
  return col == mirror ? 0 : col < mirror ? value : -value;
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const std::string& name = name_of(c, tensor);
  if (is_far(c)) {
    if (name != "x") return std::nullopt;
    return (c.dtype == Dtype::f32 ? 1e4 : 1e3) + 2 * unit(hash(c.seed, uint64_t(index))) - 1;
  }
  if (c.specials) {
    if (name == (is_backward(c) ? "dy" : "x")) return special(c, index);
    if (name == "rstd") return power_of_two(c, index);
    return small_int(c, uint64_t(name[0]), index);
  }
  return is_exact(c) ? exact(c, name, index) : std::nullopt;
}

std::vector<Case> with_all(std::vector<Case> cases) {
  for (Case& c : cases)
    if (!is_backward(c) && !c.specials) c.with = {"mean", "rstd"};
  return cases;
}

std::vector<Case> tests() {
  // (n, groups, depth, inner): runs of 1, 3, 9, 16 and 63 elements; groups of one channel, one
  // group, more channels than lanes.
  std::vector<Case> cases = with_all(crossed({.ops = {0, 1},
                                              .dtypes = kFloats,
                                              .shapes = {{1, 1, 1, 1},
                                                         {3, 2, 5, 3, 3},
                                                         {2, 3, 1, 63},
                                                         {5, 1, 4, 16},
                                                         {2, 2, 35, 3},
                                                         {4, 3, 7}}}));
  append(cases, crossed({.ops = {0, 1},
                         .shapes = {{0, 2, 3, 5}, {3, 0, 2, 7}, {2, 3, 0, 4}, {2, 3, 4, 0}}}));
  // The widths at which rows get more threads, threads more packs, and rows several blocks.
  append(cases,
         with_all(crossed(
             {.ops = {0, 1},
              .dtypes = {Dtype::f32, Dtype::bf16},
              .shapes =
                  {{2, 2, 3, 43}, {1, 3, 2, 517}, {1, 2, 8, 257}, {2, 1, 16, 512}, {1, 1, 5, 6607}},
              .specials = false})));
  append(cases, with_all(crossed({.ops = {0},
                                  .dtypes = {Dtype::f32, Dtype::f16},
                                  .shapes = {{1, 2, 4, 15013}},
                                  .misalignments = {1},
                                  .specials = false})));
  // Every tensor at another distance from its boundary.
  for (const int op : {0, 1})
    for (const Dtype dtype : kFloats)
      for (const uint64_t seed : {1, 2})
        append(cases,
               with_all(
                   {{.op = op, .dtype = dtype, .shape = {3, 2, 3, 129}, .seed = seed, .skew = 1}}));
  // In place.
  for (const Dtype dtype : {Dtype::f32, Dtype::f16})
    for (const auto& shape : Shapes{{3, 2, 4, 60}, {5, 2, 8, 1}})
      append(cases, {{.op = 0, .dtype = dtype, .shape = shape, .same = {{"y", "x"}}},
                     {.op = 1, .dtype = dtype, .shape = shape, .same = {{"dx", "dy"}}},
                     {.op = 1, .dtype = dtype, .shape = shape, .same = {{"dx", "x"}}}});
  append(cases,
         crossed({.shapes = {{4, 3, 2, 10}}, .specials = false, .parameters = {{"epsilon", 0.5}}}));
  // Numbers far from 0, with which the first rung is wrong.
  append(cases, with_all(crossed({.ops = {0},
                                  .dtypes = {Dtype::f32, Dtype::f16},
                                  .shapes = {{2, 3, 4, 64}, {1, 2, 5, 907}},
                                  .misalignments = {0},
                                  .specials = false,
                                  .distributions = {"large_mean"}})));
  return cases;
}

std::vector<Case> timings() {
  const Shapes real = {{32, 32, 8, 56, 56},
                       {8, 32, 16, 64, 64},
                       {2, 32, 10, 128, 128},
                       {256, 32, 8, 14, 14},
                       {1, 32, 4, 512, 512}};
  std::vector<Case> cases;
  for (const int op : {0, 1})
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
      for (const auto& shape : real) cases.push_back({.op = op, .dtype = dtype, .shape = shape});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "group_norm of NCHW tensors, forward and backward",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {4, 8, 8, 32, 32}},
          .input = input};
}

}  // namespace ridge::group_norm
