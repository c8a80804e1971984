#include "ladder/cases.h"

#include <algorithm>
#include <cmath>

#include "kernels/policy_losses/policy_losses.h"
#include "ladder/family.h"

namespace ridge::policy_losses {
namespace {

bool is_unlikely(const Case& c) { return c.distribution == "unlikely"; }

// Roundoffs of f32, worst case. A ratio: two exponentials of at most kLeast, each off by as many
// roundoffs as that and two more, and a division. Then a dozen operations; and sums, one after
// another.
constexpr double kLeast = 8, kRatio = 2 * (kLeast + 3);
void workload(const Case&, Workload& w) {
  double count = 0;
  for (TensorSpec& t : w.tensors) {
    const double bytes = double(ridge::count(t.shape)) * double(size_of(t.dtype));
    (t.role == Role::in ? w.cost.read : w.cost.written) += bytes;
    count = std::max(count, double(ridge::count(t.shape)));
  }
  for (TensorSpec& t : w.tensors)
    if (t.role == Role::out) t.arithmetic = kRatio + 12 + (t.name.starts_with("loss") ? count : 0);
}

// The tensor of a case: others are only there on request.
const std::string& name_of(const Case& c, size_t tensor) {
  for (const TensorDef& def : c.def->tensors) {
    if (def.on_request && !c.has(def.name)) continue;
    if (tensor-- == 0) return def.name;
  }
  return c.def->name;
}

// Log-probabilities lie on a grid, so that every format holds them, and no ratio is near a bound at
// which it is clipped. Unlikely ones are 0 as probabilities, and as far from each other.
double log_probability(const Case& c, const std::string& name, uint64_t noise, uint64_t base) {
  const bool other = name == "logp" || name == "chosen" || name == "rejected";
  const double step = c.dtype == Dtype::f32 ? 0x1p-12 : 1;  // policies that hardly differ
  if (is_unlikely(c))
    return -double(140 + base % 16) + (other ? step * (double(noise % 3) - 1) : 0);
  return -double(8 + base % 32) / 8 + (other ? (double(noise % 5) - 2) / 8 : 0);
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const std::string& name = name_of(c, tensor);
  const uint64_t noise = hash(c.seed * 64 + name.size() + uint64_t(name[0]), uint64_t(index));
  // Pairs of one base: logp and the older ones, chosen and ref_chosen.
  const uint64_t base = hash(c.seed + (name.ends_with("rejected") ? 100 : 0), uint64_t(index));
  if (name == "mask") return c.seed % 4 == 3 && index < 70 ? 0 : noise % 4 != 0;
  const bool is_logarithm =
      name.ends_with("logp") || name.ends_with("chosen") || name.ends_with("rejected");
  if (c.specials && noise % 11 == 0 && name != "advantages") return NAN;
  if (is_logarithm) return log_probability(c, name, noise, base);
  if (name == "entropy") return double(noise % 64) / 16;
  // Without an advantage, the distance from the reference is all there is.
  if (name == "advantages" && is_unlikely(c) && index % 5 == 2) return 0;
  // Values, and what they should be, on a grid on which no distance is that of the clipping.
  return (double(noise % 33) - 16) / 8;
}

std::vector<Case> tests() {
  std::vector<Case> cases;
  for (const Op op : {Op::ppo, Op::dpo, Op::grpo}) {
    const bool is_grpo = op == Op::grpo;
    const Shapes shapes = is_grpo ? Shapes{{0, 5}, {1, 1}, {3, 31}, {7, 257}, {2, 1031}}
                                  : Shapes{{0}, {1}, {31}, {257}, {2, 3, 67}, {2053}};
    append(cases, crossed({.ops = {int(op)}, .dtypes = kFloats, .shapes = shapes}));
    append(cases, crossed({.ops = {int(op)},
                           .dtypes = kFloats,
                           .shapes = is_grpo ? Shapes{{5, 61}} : Shapes{{301}},
                           .misalignments = {0},
                           .specials = false,
                           .distributions = {"unlikely"}}));
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    Case& c = cases[i];
    const bool all = i % 2 == 0 || is_unlikely(c);
    if (Op(c.op) == Op::ppo) {
      if (all) c.with = {"old_values", "entropy"};
      if (i % 3) c.with.push_back("mask");
      if (i % 4 == 1) c.parameters = {{"clip", 0.3}, {"entropy_weight", 0.5}};
    } else if (Op(c.op) == Op::grpo) {
      if (all || i % 4 == 1) c.with = {"old_logp"};
      if (all || i % 4 == 3) c.with.push_back("ref_logp");
      if (i % 3) c.with.push_back("mask");
      c.parameters = {{"average", double(i / 2 % 2)}, {"beta", 0.5}};
      if (i % 5 == 2) c.parameters.emplace_back("clip_high", 0.3);
    } else if (i % 2) {
      c.parameters = {{"label_smoothing", 0.25}, {"beta", 0.5}};
    }
  }
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases = {
      {.op = int(Op::ppo), .shape = {1 << 20}},
      {.op = int(Op::ppo), .shape = {1 << 24}, .with = {"old_values", "entropy"}},
      {.op = int(Op::dpo), .shape = {4096}},
      {.op = int(Op::dpo), .shape = {1 << 22}},
      {.op = int(Op::grpo), .shape = {1024, 8192}, .with = {"old_logp", "ref_logp", "mask"}},
      {.op = int(Op::grpo), .dtype = Dtype::bf16, .shape = {4096, 4096}, .with = {"mask"}}};
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "ppo, dpo and grpo losses of log-probabilities, with their gradients",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1 << 16}},
          .input = input};
}

}  // namespace ridge::policy_losses
