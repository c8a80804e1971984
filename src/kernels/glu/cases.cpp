#include "ladder/cases.h"

#include "kernels/glu/glu.h"
#include "ladder/family.h"

namespace ridge::glu {
namespace {

void workload(const Case& c, Workload& w) {
  // f as in the activation ladder, and the products after it: one, or two for dgate.
  const bool narrow = c.dtype != Dtype::f32, backward = c.op & kBackward;
  for (TensorSpec& t : w.tensors) {
    if (t.role != Role::out) continue;
    t.rounding = narrow ? 1.125 : 1;
    t.arithmetic = narrow ? 2 : 14;
  }
  w.tensors[0].fill = Fill::spread;  // the gates, or both halves
  const double one = double(c.size("rows")) * double(c.size("cols")) * double(size_of(c.dtype));
  w.cost = {.read = (backward ? 3 : 2) * one, .written = (backward ? 2 : 1) * one};
}

std::vector<Case> tests() {
  // Packed rows of an odd width put gate and up at different places of a 16-byte pack.
  std::vector<Case> cases =
      crossed({.ops = {0, kBackward | kGelu, kPacked | kGelu, kPacked | kBackward},
               .dtypes = kFloats,
               .shapes = matrix_shapes(),
               .padding = {0, 3}});
  append(cases, crossed({.ops = {kGelu, kBackward, kPacked, kPacked | kBackward | kGelu},
                         .dtypes = kFloats,
                         .shapes = {{3, 8}, {17, 257}}}));
  // Tensors at different places of a pack; elements with gaps between them; more dimensions.
  for (const int op : {0, int(kBackward), int(kPacked), int(kPacked | kBackward)})
    for (const Dtype dtype : kFloats) {
      cases.push_back({.op = op, .dtype = dtype, .shape = {17, 257}, .skew = 1});
      cases.push_back(
          {.op = op, .dtype = dtype, .shape = {7, 33}, .padding = 2, .padding_skew = 1});
      cases.push_back({.op = op, .dtype = dtype, .shape = {7, 33}, .step = 2});
      cases.push_back({.op = op, .dtype = dtype, .shape = {2, 5, 24}, .padding = 1});
      cases.push_back({.op = op, .dtype = dtype, .shape = {257}});
    }
  return cases;
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::bf16, .shape = {8192, 16384}},
          {.dtype = Dtype::f32, .shape = {8192, 16384}},
          {.dtype = Dtype::bf16, .shape = {8191, 8193}},
          {.op = kBackward, .dtype = Dtype::bf16, .shape = {8192, 16384}},
          {.op = kPacked, .dtype = Dtype::bf16, .shape = {8192, 14336}},
          {.op = kPacked, .dtype = Dtype::bf16, .shape = {8191, 8193}},
          {.op = kPacked | kBackward, .dtype = Dtype::bf16, .shape = {8192, 14336}},
          {.op = kGelu, .dtype = Dtype::bf16, .shape = {8192, 16384}},
          {.op = kGelu | kBackward, .dtype = Dtype::bf16, .shape = {8192, 16384}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {
      .summary = "y = silu(gate) up, or gelu(gate) up; packed: gate and up are the halves of a row",
      .workload = workload,
      .tests = tests,
      .timings = timings,
      .tour = {.dtype = Dtype::bf16, .shape = {256, 2048}}};
}

}  // namespace ridge::glu
