#include "ladder/cases.h"

#include <cmath>

#include "kernels/pointwise_loss/pointwise_loss.h"
#include "ladder/family.h"

namespace ridge::pointwise_loss {
namespace {

bool is_kl(const Case& c) { return Op(c.op) == Op::kl_div || Op(c.op) == Op::kl_div_bwd; }

// Roundoffs of f32, worst case: an exponential of at most 8, whose error is 3 * 8 + 2 of them, a
// handful of operations, and sums one after another.
void workload(const Case& c, Workload& w) {
  const double n = double(c.size("n"));
  for (TensorSpec& t : w.tensors) {
    if (t.name == "loss") t.arithmetic = 32 + n;
    if (t.name == "dx") t.arithmetic = is_kl(c) ? 32 : 4;
    (t.role == Role::in ? w.cost.read : w.cost.written) +=
        double(count(t.shape)) * double(size_of(t.dtype));
  }
}

// Every fourth number is 0 or 1 in one_hot. Even seeds of mse_loss give small whole numbers.
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const uint64_t noise = hash(c.seed * 8 + tensor, uint64_t(index));
  const bool is_target = tensor == (Op(c.op) == Op::kl_div_bwd ? 0u : 1u);
  if (tensor == 2 || (tensor == 1 && !is_target)) return 2 * unit(noise) - 1;  // dloss
  if (c.specials && noise % 97 == 0) return index % 2 ? NAN : is_kl(c) ? -INFINITY : INFINITY;
  if (!is_kl(c)) return c.seed % 2 ? 2 * unit(noise) - 1 : double(noise % 9) - 4;
  if (!is_target) return -8 * unit(noise);
  if (c.flag("log_target")) return -8 * unit(noise);
  if (c.is_distributed("one_hot")) return noise % 4 == 0 ? 1 : 0;
  return 0.01 + 0.99 * unit(noise);
}

std::vector<Case> tests() {
  const std::vector<int> kAll = {0, 1, 2, 3};
  std::vector<Case> cases = crossed(
      {.ops = kAll, .dtypes = kFloats, .shapes = {{0}, {1}, {7}, {33}, {257}, {4099}, {3, 5, 67}}});
  for (size_t i = 0; i < cases.size(); ++i) {
    Case& c = cases[i];
    c.parameters.emplace_back("reduction", double(i % (is_kl(c) ? 3 : 2)));
    if (is_kl(c) && i % 4 > 1) c.parameters.emplace_back("log_target", 1);
  }
  for (const int op : kAll)  // every tensor at another distance from its boundary
    for (const Dtype dtype : kFloats)
      cases.push_back({.op = op, .dtype = dtype, .shape = {1031}, .seed = 3, .skew = 1});
  append(cases, crossed({.ops = {int(Op::kl_div)},
                         .dtypes = kFloats,
                         .shapes = {{40}, {5, 300}},
                         .misalignments = {0},
                         .specials = false,
                         .distributions = {"one_hot"}}));
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const int op : {0, 1, 2, 3})
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32}) {
      cases.push_back({.op = op, .dtype = dtype, .shape = {1 << 28}});
      cases.push_back({.op = op, .dtype = dtype, .shape = {1 << 20}});
      cases.push_back({.op = op, .dtype = dtype, .shape = {100'000'007}});
    }
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "mse_loss and kl_div, forward and backward",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1 << 18}},
          .input = input};
}

}  // namespace ridge::pointwise_loss
