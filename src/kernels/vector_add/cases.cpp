#include "ladder/cases.h"

#include "kernels/vector_add/vector_add.h"
#include "ladder/family.h"

namespace ridge::vector_add {
namespace {

void workload(const Case& c, Workload& w) {
  const double bytes = double(c.size("n")) * double(size_of(c.dtype));
  w.cost = {.read = 2 * bytes, .written = bytes};
}

std::vector<Case> tests() {
  std::vector<Case> cases = crossed({.dtypes = kFloats, .shapes = vector_shapes()});
  append(cases, crossed({.dtypes = kFloats, .shapes = matrix_shapes(), .padding = {0, 3}}));
  append(cases, crossed({.shapes = {{37, 1031}}, .padding = {0, 3}, .same = {{"out", "a"}}}));
  append(cases, crossed({.shapes = {{4099}}, .same = {{"out", "b"}}}));
  return cases;
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::f32, .shape = {1 << 28}},
          {.dtype = Dtype::bf16, .shape = {1 << 28}},
          {.dtype = Dtype::f32, .shape = {1 << 24}},
          {.dtype = Dtype::f32, .shape = {100'000'007}},
          {.dtype = Dtype::bf16, .shape = {8191, 8193}}};
}

std::optional<Truth> truth_at(const Case&, const Elements& inputs, size_t, int64_t index) {
  return plain_truth(inputs.at(0, index) + inputs.at(1, index));
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "out = a + b",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1 << 20}},
          .truth_at = truth_at};
}

}  // namespace ridge::vector_add
