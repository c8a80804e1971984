#include "ladder/cases.h"

#include <algorithm>
#include <cmath>

#include "kernels/recurrence/recurrence.h"
#include "ladder/family.h"

namespace ridge::recurrence {
namespace {

// Even seeds, but for specials and gae: factors -1, 0 and 1 and whole summands, whose sums are
// exact in any order, so that no step can be lost, or done twice, within a tolerance.
bool is_gae(const Case& c) { return Op(c.op) == Op::gae; }
bool is_exact(const Case& c) { return c.seed % 2 == 0 && !c.specials && !is_gae(c); }

// With NaN and infinities, chains that rungs combine in different orders have different results:
// only those of a single step are the same.
Status check(const Case& c) {
  if (!c.specials || c.size("length") <= 1) return Status::ok();
  return Error{2, "NaN and infinities come out differently where steps are combined"};
}

void workload(const Case& c, Workload& w) {
  for (TensorSpec& t : w.tensors) {
    t.fill = is_exact(c) ? Fill::counted : Fill::uniform;
    if (t.name == "done") t.fill = Fill::index, t.limit = 2;
    const double one = double(count(t.shape)) * double(size_of(t.dtype));
    (t.role == Role::in ? w.cost.read : w.cost.written) += one;
    if (t.role == Role::in) continue;
    // Whole numbers up to 2^24 are exact in f32; a narrower format rounds what it stores.
    t.arithmetic = is_exact(c) ? 0 : 1;
    t.rounding = is_exact(c) && t.dtype == Dtype::f32 ? 0 : 1;
  }
  w.cost.flops = 2 * double(c.size("outer")) * double(c.size("length")) * double(c.size("inner"));
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
  const uint64_t noise = hash(c.seed * 8 + 5, uint64_t(index));
  // Episodes of 20 steps or so; a value that no episode may pass on.
  if (*name == "done") return noise % 20 == 0 ? double(1 + noise / 32 % 255) : 0;
  if (*name != "a") return std::nullopt;
  if (is_exact(c)) return noise % 16 == 0 ? 0 : noise & 1 ? 1 : -1;
  if (c.specials) return std::nullopt;
  // Most factors are near 1, so that a step is felt far away; some change the sign, or forget.
  const double x = unit(noise);
  return noise % 32 == 0 ? 0 : noise % 8 == 0 ? -x : 1 - x * x / 8;
}

constexpr std::pair<const char*, double> kSteps = {"axis", 1}, kStepsFirst = {"axis", 0};

std::vector<Case> with_all(std::vector<Case> cases) {
  for (Case& c : cases) {
    if (c.seed % 3 == 0) continue;
    if (Op(c.op) == Op::forward) c.with = {"initial"};
    if (Op(c.op) == Op::backward) c.with = {"initial", "dinitial"};
    if (is_gae(c)) c.with = {"next_value", "returns"};
  }
  return cases;
}

std::vector<Case> tests() {
  // Steps that are neighbours: around a warp, around a tile of 1024, several tiles; a chunk of 04
  // is at least a tile.
  const Shapes rows = {{1, 1},    {5, 31},   {3, 32},   {9, 33},
                       {2, 1023}, {1, 1024}, {3, 1025}, {2, 5003}};
  // Steps that are not: around a chunk of 32 steps; chains of two dimensions.
  const Shapes columns = {{1, 1, 2},  {2, 31, 3},   {1, 32, 7},
                          {3, 33, 5}, {2, 403, 33}, {1, 65, 4, 3}};
  std::vector<Case> cases =
      with_all(crossed({.ops = {0, 1}, .dtypes = kFloats, .shapes = rows, .specials = false}));
  append(cases, with_all(crossed({.ops = {0, 1},
                                  .dtypes = kFloats,
                                  .shapes = columns,
                                  .specials = false,
                                  .parameters = {kSteps}})));
  append(cases, with_all(crossed({.ops = {2}, .shapes = rows, .specials = false})));
  append(cases, with_all(crossed({.ops = {2},
                                  .shapes = {{403, 37}, {64, 2, 5}, {1, 9}},
                                  .specials = false,
                                  .parameters = {kStepsFirst}})));
  append(cases, with_all(crossed({.ops = {2},
                                  .shapes = {{3, 257}},
                                  .specials = false,
                                  .parameters = {{"gamma", 1}, {"decay", 1}}})));
  append(cases, crossed({.ops = {0, 1, 2}, .shapes = {{0, 5}, {5, 0}}}));
  // A gradient of `initial` is there without a step.
  cases.push_back({.op = 1, .shape = {5, 0}, .with = {"initial", "dinitial"}});
  append(cases, crossed({.ops = {0, 1, 2}, .shapes = {{67, 1}}, .misalignments = {}}));
  for (const int op : {0, 1, 2})
    for (const uint64_t seed : {1, 2})
      append(cases, with_all({{.op = op, .shape = {5, 261}, .seed = seed, .skew = 1}}));
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const int op : {0, 1})
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
      for (const auto& shape : Shapes{{4096, 16384}, {64, 1 << 20}, {1, 1 << 26}, {65536, 512}})
        cases.push_back({.op = op, .dtype = dtype, .shape = shape});
      for (const auto& shape : Shapes{{8, 4096, 2048}, {1, 65536, 1024}})
        cases.push_back({.op = op, .dtype = dtype, .shape = shape, .parameters = {kSteps}});
    }
  for (const auto& shape : Shapes{{128, 65536}, {1024, 4096}, {4096, 128}})
    cases.push_back({.op = 2, .shape = shape, .parameters = {kStepsFirst}});
  cases.push_back({.op = 2, .shape = {4096, 2048}});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "h[t] = a[t] h[t-1] + b[t] along an axis, its gradients, and advantages (gae)",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {64, 4096}},
          .input = input,
          .check = check};
}

}  // namespace ridge::recurrence
