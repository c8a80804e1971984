#include "ladder/cases.h"

#include "kernels/dropout/dropout.h"
#include "ladder/family.h"

namespace ridge::dropout {
namespace {

enum Op { kForward, kBackward };

void workload(const Case& c, Workload& w) {
  w.tensors[1].rounding = 1;  // one product in f32, and its rounding to the format
  w.tensors[1].arithmetic = 1;
  const double bytes = double(c.size("n")) * double(size_of(c.dtype));
  w.cost = {.read = bytes, .written = bytes};
}

// Every case of a crossing draws its own numbers; both halves of seed and offset matter.
std::vector<Case> drawn(double probability, Crossing crossing) {
  crossing.parameters = {{"probability", probability}};
  std::vector<Case> cases = crossed(crossing);
  for (Case& c : cases) {
    c.parameters.emplace_back("seed", double(c.seed * 0x100000007u));
    c.parameters.emplace_back("offset", double(c.seed << 31));
  }
  return cases;
}

std::vector<Case> tests() {
  std::vector<Case> cases;
  // Misaligned by 1, 2 and 3: packs start at every place of a Philox block.
  append(cases, drawn(0.25, {.ops = {kForward},
                             .dtypes = kFloats,
                             .shapes = vector_shapes(),
                             .misalignments = {0, 1, 2, 3}}));
  append(
      cases,
      drawn(0.5,
            {.ops = {kBackward}, .dtypes = kFloats, .shapes = matrix_shapes(), .padding = {0, 3}}));
  for (const double probability : {0.0, 0.1, 0.9, 1.0})
    append(cases, drawn(probability, {.ops = {kForward, kBackward},
                                      .dtypes = kFloats,
                                      .shapes = {{9}, {1031}, {31, 33}},
                                      .padding = {0, 3}}));
  // Elements with gaps between them; dimensions in another order; both at different places of a
  // pack.
  for (const Dtype dtype : kFloats) {
    const Case plain = {.op = kBackward, .dtype = dtype, .parameters = {{"seed", 7}}};
    Case c = plain;
    c.shape = {31, 33}, c.step = 2;
    cases.push_back(c);
    c = plain;
    c.shape = {3, 31, 33}, c.transposed = {"dx"};
    cases.push_back(c);
    c = plain;
    c.shape = {1031}, c.skew = 1;
    cases.push_back(c);
  }
  return cases;
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::bf16, .shape = {1 << 28}},
          {.dtype = Dtype::f32, .shape = {1 << 28}},
          {.dtype = Dtype::bf16, .shape = {1 << 24}},
          {.dtype = Dtype::bf16, .shape = {100'000'007}},
          {.op = kBackward, .dtype = Dtype::bf16, .shape = {1 << 28}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "y = x / (1 - p), or 0 with probability p; the mask follows from a seed",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::bf16, .shape = {1 << 19}}};
}

}  // namespace ridge::dropout
