#include "ladder/cases.h"

#include <algorithm>

#include "kernels/selective_scan/selective_scan.h"
#include "ladder/family.h"

namespace ridge::selective_scan {
namespace {

// Without softplus, and without what makes numbers that are not whole: a is 0, so that nothing is
// forgotten, and all else small whole numbers. Sums are then exact in any order, so no step can be
// lost, or done twice, within a tolerance. A gate is no whole number.
bool is_exact(const Case& c) { return !c.flag("softplus") && !c.has("z"); }

void workload(const Case& c, Workload& w) {
  for (TensorSpec& t : w.tensors) {
    t.fill = is_exact(c) ? Fill::counted : Fill::uniform;
    if (t.name == "z") t.fill = Fill::spread;
    const double one = double(count(t.shape)) * double(size_of(t.dtype));
    (t.role == Role::in ? w.cost.read : w.cost.written) += one;
    // The reference says what the error of each element may be, in roundoffs of f32. Whole numbers
    // up to 2^24 are exact; sums over all steps may be larger.
    const bool is_sum = t.name == "da" || t.name == "ddelta_bias" || t.name == "dz";
    t.arithmetic = is_exact(c) && !is_sum ? 0 : 1;
    t.rounding = is_exact(c) && !is_sum && t.dtype == Dtype::f32 ? 0 : 1;
  }
  const double steps = double(c.size("batch")) * double(c.size("dim")) * double(c.size("length"));
  w.cost.flops = steps * double(c.size("state")) * (c.op == 1 ? 24 : 6);
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  size_t at = tensor;
  const std::string* name = &c.def->name;
  for (const TensorDef& def : c.def->tensors) {
    if (def.on_request && !c.has(def.name)) continue;
    if (at-- == 0) {
      name = &def.name;
      break;
    }
  }
  const uint64_t noise = hash(c.seed * 16 + tensor, uint64_t(index));
  if (*name == "a") return is_exact(c) ? 0 : -4 * unit(noise);
  // Steps are never negative, with which a state would grow beyond all numbers: 0.01 to 1 with
  // softplus; without, 1 or 2, or up to 1.
  if (*name == "delta")
    return is_exact(c)          ? 1 + double(noise % 2)
           : c.flag("softplus") ? 5 * unit(noise) - 4.5
                                : unit(noise);
  if (*name == "delta_bias" && !c.flag("softplus"))
    return is_exact(c) ? double(noise % 2) : unit(noise);
  if (is_exact(c) && *name != "z") return double(noise % 3) - 1;
  return std::nullopt;
}

std::vector<Case> tests() {
  // (batch, dim, state, length): around the lanes of a state, a tile of 1024 steps, several tiles.
  const Shapes shapes = {{1, 1, 1, 1},    {2, 3, 4, 33},  {1, 2, 16, 129}, {1, 5, 3, 1023},
                         {2, 1, 2, 1025}, {1, 1, 33, 70}, {1, 2, 3, 2100}};
  std::vector<Case> cases;
  uint64_t seed = 0;
  for (const int op : {0, 1})
    for (const Dtype dtype : kFloats)
      for (const auto& shape : shapes)
        for (const double softplus : {1, 0}) {
          if (dtype == Dtype::f16 && shape[3] > 200) continue;
          ++seed;
          Case c = {.op = op,
                    .dtype = dtype,
                    .shape = shape,
                    .seed = seed,
                    .misalignment = int(seed / 2 % 2),
                    .parameters = {{"softplus", softplus}}};
          if (seed / 2 % 3 != 0) {
            c.with = {"d", "delta_bias"};
            if (softplus != 0) c.with.push_back("z");
            if (op == 0) c.with.push_back("last_state");
            else c.with.insert(c.with.end(), {"dd", "ddelta_bias"});
            if (op == 1 && softplus != 0) c.with.push_back("dz");
          }
          cases.push_back(std::move(c));
        }
  for (const int op : {0, 1}) {
    for (const auto& shape : Shapes{{0, 2, 3, 4}, {2, 0, 3, 4}, {2, 3, 0, 4}, {2, 3, 4, 0}})
      cases.push_back({.op = op, .shape = shape});
    cases.push_back({.op = op, .shape = {1, 4, 200, 20}, .seed = 7});
    cases.push_back({.op = op, .shape = {2, 3, 5, 61}, .seed = 8, .skew = 1});
    cases.push_back({.op = op,
                     .shape = {2, 3, 5, 61},
                     .seed = 9,
                     .with = {"d", "z", "delta_bias"},
                     .parameters = {{"softplus", 0}}});
  }
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const int op : {0, 1})
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
      for (const auto& shape :
           Shapes{{8, 2048, 16, 2048}, {1, 5120, 16, 8192}, {64, 1536, 16, 512}})
        cases.push_back({.op = op, .dtype = dtype, .shape = shape, .with = {"d", "z"}});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "Mamba's selective scan, forward and backward",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1, 32, 16, 512}},
          .input = input};
}

}  // namespace ridge::selective_scan
