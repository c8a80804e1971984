#include "ladder/cases.h"

#include <cmath>

#include "kernels/fake_quantise/fake_quantise.h"
#include "ladder/family.h"

namespace ridge::fake_quantise {
namespace {

void workload(const Case& c, Workload& w) {
  const double one = double(c.size("rows")) * double(c.size("cols")) * double(size_of(c.dtype));
  w.cost.read = one * (is_backward(c.op) ? 2 : 1);
  w.cost.written = one;
  for (TensorSpec& t : w.tensors) {
    t.rounding = t.arithmetic = 0;  // every bit is defined
    if (t.name == "x") t.fill = Fill::spread;
  }
}

// The tensor of a workload: a case may have no zero_point.
const std::string& name_of(const Case& c, size_t tensor) {
  for (const TensorDef& def : c.def->tensors)
    if ((!def.on_request || c.has(def.name)) && tensor-- == 0) return def.name;
  return c.def->name;
}

// Scales such that a part of x is clamped. Every third case has powers of two, and x in quarters of
// them, so that there are ties.
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const std::string& name = name_of(c, tensor);
  const bool ties = c.seed % 3 == 0;
  const uint64_t noise = hash(c.seed + tensor, uint64_t(index));
  if (name == "zero_point") return double(noise % 41) - 20;
  if (name == "scale") {
    const double size = ties ? std::ldexp(1, -int(noise % 2) - 4) : 0.03 + unit(noise) / 16;
    return op_of(c.op) == Op::fp8 ? size / 4 : size;
  }
  if (name != "x" || !ties || c.specials) return std::nullopt;
  return std::ldexp(double(noise % 1201) - 600, -6);
}

std::vector<Case> tests() {
  std::vector<int> ops;
  for (int op = 0; op < 2 * kOps; ++op) ops.push_back(op);
  std::vector<Case> cases = crossed({.ops = ops,
                                     .dtypes = kFloats,
                                     .shapes = {{0, 3}, {1, 1}, {3, 7}, {9, 64}, {2, 1031}},
                                     .padding = {0, 3}});
  append(cases, crossed({.ops = ops,
                         .dtypes = kFloats,
                         .shapes = {{5, 96}, {130, 33}, {3, 4096}},
                         .misalignments = {0},
                         .specials = false}));
  append(cases, crossed({.ops = {0, 1},
                         .dtypes = kFloats,
                         .shapes = {{6, 48}},
                         .misalignments = {0},
                         .specials = false,
                         .same = {{"y", "x"}}}));
  for (Case& c : cases) {
    if (op_of(c.op) == Op::fp8) c.parameters = {{"format", double(c.seed % 2)}};
    else if (c.seed % 4 == 1) c.parameters = {{"low", 0}, {"high", 255}};
    else if (c.seed % 4 == 2) c.parameters = {{"low", -7}, {"high", 7}};
    if (op_of(c.op) != Op::fp8 && c.seed % 2) c.with = {"zero_point"};
  }
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (int op = 0; op < 2 * kOps; ++op)
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
      for (const std::vector<int64_t>& shape : Shapes{{8192, 8192}, {4096, 11007}})
        cases.push_back({.op = op, .dtype = dtype, .shape = shape});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "there and back: what quantisation does to a number, and its gradient",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::bf16, .shape = {256, 1024}},
          .input = input};
}

}  // namespace ridge::fake_quantise
