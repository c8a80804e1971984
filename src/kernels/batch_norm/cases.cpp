#include "ladder/cases.h"

#include <algorithm>
#include <cmath>

#include "kernels/batch_norm/batch_norm.h"
#include "ladder/family.h"

namespace ridge::batch_norm {
namespace {

// Even seeds, but for specials, give whole numbers whose sums are exact in any order, so that no
// element can be lost, or come twice, within a tolerance. In training, a channel's elements and its
// mirror image are opposite, so that the mean is 0; backward, mean is whole and rstd a power of
// two.
bool is_far(const Case& c) { return c.distribution == "large_mean"; }
bool is_exact(const Case& c) { return c.seed % 2 == 0 && !c.specials && !is_far(c); }
// Every fifth case goes without weights.
bool has_weights(const Case& c) { return c.seed % 5 != 3; }

double small_int(const Case& c, uint64_t salt, int64_t index) {  // -4 … 4, without 0
  const int k = int(hash(c.seed * 8 + salt, uint64_t(index)) % 8);
  return k < 4 ? k - 4 : k - 3;
}

double power_of_two(const Case& c, int64_t index) {  // 0.5, 1 or 2
  return std::exp2(double(hash(c.seed, uint64_t(index)) % 3) - 1);
}

// Where an element of the tensor is.
struct Place {
  int64_t channel, at, count;  // which of its channel's elements, of how many
  Place(const Case& c, int64_t index) {
    const int64_t channels = std::max<int64_t>(c.size("channels"), 1);
    const int64_t inner = std::max<int64_t>(c.size("inner"), 1), run = index / inner;
    channel = run % channels;
    at = run / channels * inner + index % inner;
    count = c.size("outer") * c.size("inner");
  }
};

void workload(const Case& c, Workload& w) {
  const Op op = Op(c.op);
  const double n = double(c.size("outer")) * double(c.size("inner"));
  const double one = n * double(c.size("channels")) * double(size_of(c.dtype));
  if (!has_weights(c))
    std::erase_if(w.tensors,
                  [](const TensorSpec& t) { return t.name == "gamma" || t.name == "beta"; });
  w.cost.read = one * (op == Op::backward ? 2 : 1);
  w.cost.written = one;
  for (TensorSpec& t : w.tensors) {
    const bool is_spread = t.name == "rstd" || t.name == "running_variance";
    t.fill = is_spread ? Fill::positive : Fill::uniform;
    if (t.role == Role::in) continue;
    // Roundoffs of f32, worst case: sums one after another, n of them, or none where they are
    // exact; a root halves the error of the variance, and has two of its own. Then the distance,
    // three products and a sum. Magnitudes have what the mean is rounded relative to. Far from 0,
    // where the first rung is wrong anyhow, nobody else adds more than a warp's share.
    const double sums = is_exact(c) ? 0 : is_far(c) ? n / 32 + 16 : n;
    if (t.name == "y") t.arithmetic = op == Op::infer ? 8 : 1.5 * sums + 10;
    if (t.name == "mean" || t.name == "running_mean") t.arithmetic = sums + 4;
    if (t.name == "rstd") t.arithmetic = sums + 6;
    if (t.name == "running_variance") t.arithmetic = 2 * sums + 8;
    if (t.name == "dx") t.arithmetic = sums + 12;
    if (t.name == "dgamma") t.arithmetic = is_exact(c) ? 0 : n + 4;
    if (t.name == "dbeta") t.arithmetic = is_exact(c) ? 0 : n;
    if (is_exact(c) && (t.name == "dgamma" || t.name == "dbeta")) t.rounding = 0;
  }
}

// Each channel shows one thing.
double special(const Case& c, int64_t index) {
  const Place p(c, index);
  const double plain = small_int(c, 0, index);
  switch (p.channel % 5) {
    case 0: return p.at == p.count - 1 ? NAN : plain;
    case 1: return p.at == p.count / 2 ? INFINITY : plain;
    case 2: return p.at == 0 ? -INFINITY : plain;
    case 3: return 3;  // no deviation at all: epsilon alone is under the root
    default: return p.at % 2 ? -0.0 : 0.0;
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
  if (Op(c.op) == Op::backward) {
    if (name == "rstd") return power_of_two(c, index);
    return small_int(c, name.size() + uint64_t(name[0]), index);
  }
  if (name != "x" || Op(c.op) == Op::infer) return std::nullopt;
  const Place p(c, index);
  const int64_t mirror = p.count - 1 - p.at;
  const double value = small_int(c, uint64_t(p.channel), std::min(p.at, mirror));
  return p.at == mirror ? 0 : p.at < mirror ? value : -value;
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const std::string& name = name_of(c, tensor);
  if (is_far(c)) {
    if (name != "x") return std::nullopt;
    return (c.dtype == Dtype::f32 ? 1e4 : 1e3) + 2 * unit(hash(c.seed, uint64_t(index))) - 1;
  }
  if (c.specials) {
    if (name == (Op(c.op) == Op::backward ? "dy" : "x")) return special(c, index);
    if (name == "rstd" || name == "running_variance") return power_of_two(c, index);
    return small_int(c, uint64_t(name[0]), index);
  }
  return is_exact(c) ? exact(c, name, index) : std::nullopt;
}

constexpr std::pair<const char*, double> kChannelsLast = {"axis", -1};

// All that there is on request.
std::vector<Case> with_all(std::vector<Case> cases) {
  for (Case& c : cases)
    if (Op(c.op) == Op::train && !c.specials)
      c.with = {"running_mean", "running_variance", "mean", "rstd"};
  return cases;
}

std::vector<Case> tests() {
  // NCHW, and (N, C). Runs of 1, 7, 9, 16, 33 and 63 elements; channels of up to a slice and more.
  const Shapes channels_first = {{1, 1}, {3, 5, 3, 3}, {2, 3, 4, 4}, {5, 6, 33}, {33, 7}};
  const Shapes channels_last = {{2, 3, 3, 5}, {19, 16}, {3, 11, 24}, {2, 2, 264}, {70, 1}};
  std::vector<Case> cases =
      with_all(crossed({.ops = {0, 1, 2}, .dtypes = kFloats, .shapes = channels_first}));
  append(cases, with_all(crossed({.ops = {0, 1, 2},
                                  .dtypes = kFloats,
                                  .shapes = channels_last,
                                  .parameters = {kChannelsLast}})));
  append(cases, crossed({.ops = {0, 1, 2}, .shapes = {{0, 5, 3}, {3, 0, 7}, {2, 3, 0}}}));
  // Several blocks of the last pass, several slices, several turns of a thread.
  append(cases, with_all(crossed({.ops = {0, 1, 2},
                                  .dtypes = {Dtype::f32, Dtype::bf16},
                                  .shapes = {{3, 2, 71, 73}, {600, 5, 7}, {2, 1, 8209}},
                                  .specials = false})));
  append(cases, with_all(crossed({.ops = {0, 1, 2},
                                  .dtypes = {Dtype::f32, Dtype::bf16},
                                  .shapes = {{1031, 16}, {9, 67, 40}, {2100, 8}, {5003, 3}},
                                  .specials = false,
                                  .parameters = {kChannelsLast}})));
  // Channels that a cluster of two blocks holds, and one of three.
  append(cases, with_all(crossed({.ops = {0, 2},
                                  .dtypes = {Dtype::f32, Dtype::bf16},
                                  .shapes = {{3, 2, 40, 44}, {5, 1, 104, 104}},
                                  .misalignments = {0},
                                  .specials = false})));
  // Every tensor at another distance from its boundary.
  for (const int op : {0, 1, 2})
    for (const Dtype dtype : kFloats)
      for (const uint64_t seed : {1, 2})
        append(
            cases,
            with_all({{.op = op, .dtype = dtype, .shape = {3, 4, 129}, .seed = seed, .skew = 1}}));
  // In place.
  for (const Dtype dtype : {Dtype::f32, Dtype::f16})
    for (const auto& shape : Shapes{{3, 4, 60}, {5, 8}})
      append(cases, {{.op = 0, .dtype = dtype, .shape = shape, .same = {{"y", "x"}}},
                     {.op = 1, .dtype = dtype, .shape = shape, .same = {{"y", "x"}}},
                     {.op = 2, .dtype = dtype, .shape = shape, .same = {{"dx", "dy"}}},
                     {.op = 2, .dtype = dtype, .shape = shape, .same = {{"dx", "x"}}}});
  append(cases, with_all(crossed({.ops = {0},
                                  .shapes = {{4, 3, 10}},
                                  .specials = false,
                                  .parameters = {{"epsilon", 0.5}, {"momentum", 0.75}}})));
  // Numbers far from 0, with which the first rung is wrong.
  for (const double axis : {1, -1})
    append(cases, with_all(crossed({.ops = {0},
                                    .dtypes = {Dtype::f32, Dtype::f16},
                                    .shapes = {{5, 6, 256}, {40, 30, 8}},
                                    .misalignments = {0},
                                    .specials = false,
                                    .parameters = {{"axis", axis}},
                                    .distributions = {"large_mean"}})));
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const int op : {0, 1, 2})
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
      for (const double axis : {1, -1})
        for (const auto& shape : Shapes{{256, 64, 56, 56},
                                        {256, 256, 28, 28},
                                        {64, 512, 14, 14},
                                        {32, 2048, 7, 7},
                                        {1024, 64, 33, 33}})
          cases.push_back(
              {.op = op,
               .dtype = dtype,
               .shape = axis == 1 ? shape : std::vector{shape[0], shape[2], shape[3], shape[1]},
               .parameters = {{"axis", axis}}});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "batch_norm of channels anywhere in a tensor: training, inference, backward",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {8, 32, 32, 32}},
          .input = input};
}

}  // namespace ridge::batch_norm
