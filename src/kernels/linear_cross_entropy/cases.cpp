#include "ladder/cases.h"

#include <algorithm>
#include <cmath>

#include "kernels/linear_cross_entropy/linear_cross_entropy.h"
#include "ladder/family.h"

namespace ridge::linear_cross_entropy {
namespace {

// reference.cpp counts errors, in roundoffs of f32.
void workload(const Case& c, Workload& w) {
  double gradients = 0;
  for (TensorSpec& t : w.tensors) {
    const double bytes = double(count(t.shape)) * double(size_of(t.dtype));
    (t.role == Role::in ? w.cost.read : w.cost.written) += bytes;
    gradients += t.name == "dhidden" || t.name == "dweight";
    if (t.role == Role::in) continue;
    t.rounding = 0;
    t.arithmetic = 1;
  }
  w.cost.flops =
      (1 + gradients) * 2 * double(c.size("rows")) * double(c.size("cols")) * double(c.size("dim"));
  if (c.dtype != Dtype::f32) w.cost.arithmetic = Arithmetic::tensor_f16;
}

// Even seeds give hidden and weight few numbers that are not 0, so that logits are small whole
// numbers, and no product can be lost, or come twice, within a tolerance.
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const uint64_t noise = hash(c.seed * 4 + tensor, uint64_t(index));
  if (tensor == 2) {  // targets
    const int64_t cols = std::max<int64_t>(c.size("cols"), 1);
    if (c.distribution == "padding" && index % 5 == 3) return c.number("ignore_index");
    if (c.specials && index == 4) return double(cols);
    return double(noise % uint64_t(cols));
  }
  // A row that is ignored does not count, whatever is in it.
  const int64_t dim = std::max<int64_t>(c.size("dim"), 1);
  if (tensor == 0 && c.specials && c.distribution == "padding" && index / dim % 5 == 3) return 1e4;
  const double size = std::sqrt(8 / double(dim));
  // Logits of some hundreds, whose exponentials alone would overflow.
  const double factor = tensor == 0 && c.distribution == "large_logits" ? 128 : 1;
  if (c.seed % 2) return factor * size * (2 * unit(noise) - 1);
  const uint64_t one_in = uint64_t(std::max(2.0, std::sqrt(double(dim) / 4)));
  return noise % one_in ? 0 : noise / 256 % 2 ? factor : -factor;
}

std::vector<Case> tests() {
  // One and several chunks of 64 rows, the last of them whole or not; rows that packs do not reach.
  std::vector<Case> cases =
      crossed({.dtypes = kFloats,
               .shapes = {{1, 33, 8}, {9, 33, 7}, {64, 40, 24}, {65, 130, 16}, {130, 257, 9}},
               .specials = true});
  append(cases, crossed({.shapes = {{0, 5, 3}, {5, 7, 0}, {1, 1, 1}},
                         .misalignments = {0},
                         .specials = false}));
  // The loss alone: less than a tile of 128 by 128 by 64, whole ones, several of them.
  std::vector<Case> losses = crossed(
      {.dtypes = {Dtype::f16, Dtype::bf16},
       .shapes = {{3, 5, 8}, {128, 128, 64}, {129, 257, 72}, {40, 513, 136}, {2, 17100, 72}},
       .specials = false});
  append(cases, crossed({.dtypes = {Dtype::bf16},
                         .shapes = {{70, 700, 72}},
                         .misalignments = {0},
                         .padding = {0, 3},
                         .specials = false}));
  const size_t with_gradients = cases.size();
  append(cases, std::move(losses));
  for (size_t i = 0; i < cases.size(); ++i) {
    Case& c = cases[i];
    const bool gradients = i < with_gradients;
    if (gradients && i % 4 != 3) c.with = {"dhidden", "dweight"};
    if (gradients && i % 8 == 3) c.with = {"dweight"};
    if (i % 3 == 1) c.with.insert(c.with.begin(), "losses");
    if (i % 2) c.distribution = "padding";
    if (i % 5 == 1) c.formats = {{"targets", Dtype::i32}};
    c.parameters = {{"reduction", double(i / 2 % 2)}};
    if (i % 3 == 0) c.parameters.emplace_back("label_smoothing", 0.125);
    if (i % 4 == 2) c.parameters.emplace_back("scale", -3.5);
  }
  std::vector<Case> large = crossed({.dtypes = kFloats,
                                     .shapes = {{65, 130, 16}},
                                     .specials = false,
                                     .distributions = {"large_logits"}});
  for (Case& c : large) c.with = {"dhidden", "dweight"};
  append(cases, std::move(large));
  append(cases, crossed({.dtypes = {Dtype::bf16},
                         .shapes = {{129, 257, 72}},
                         .specials = false,
                         .distributions = {"large_logits"}}));
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const auto& shape : Shapes{{8192, 128256, 4096}, {4096, 50257, 768}, {16384, 32000, 2048}})
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
      cases.push_back({.dtype = dtype, .shape = shape, .with = {"dhidden", "dweight"}});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "cross entropy of a linear layer, with gradients, without storing its logits",
          .unit = "TFLOP/s",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::bf16, .shape = {128, 512, 64}, .with = {"dhidden", "dweight"}},
          .input = input};
}

}  // namespace ridge::linear_cross_entropy
