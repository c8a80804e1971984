#include "ladder/cases.h"

#include "kernels/dropout/family.h"

namespace ridge::dropout {
namespace {

enum Op { kForward, kBackward };

// All shares turn up in the tests, which count their seeds.
double share_of(const Case& c) {
  constexpr double kShares[] = {0.5, 0.1, 0.25, 0, 0.9, 1};
  return kShares[c.seed % std::size(kShares)];
}

}  // namespace

Family::Family() : Erased(dropout::rungs()) {
  family = "dropout";
  summary = "out = x / (1 - p), or 0 with probability p; the mask follows from a seed";
  operators = {"dropout", "dropout_bwd"};
  dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};
  shape_help = "N, or ROWSxCOLUMNS";
  // Misaligned by 1, 2 and 3: packs start at every place of a Philox block.
  tests = crossed({.ops = {kForward},
                   .dtypes = dtypes,
                   .shapes = vector_shapes(),
                   .misalignments = {0, 1, 2, 3}});
  append(tests,
         crossed(
             {.ops = {kBackward}, .dtypes = dtypes, .shapes = matrix_shapes(), .padding = {0, 3}}));
  timings = {{.dtype = Dtype::bf16, .shape = {1 << 28}},
             {.dtype = Dtype::f32, .shape = {1 << 28}},
             {.dtype = Dtype::bf16, .shape = {1 << 24}},
             {.dtype = Dtype::bf16, .shape = {100'000'007}},
             {.op = kBackward, .dtype = Dtype::bf16, .shape = {1 << 28}}};
  tour = {.dtype = Dtype::bf16, .shape = {1 << 19}};
}

Status Family::check(const Case& c) const {
  return check_case(*this, c, c.shape.size() > 1 ? 2 : 1);
}

Workload Family::workload(const Case& c) const {
  const double bytes = double(count(c.shape)) * double(size_of(c.dtype));
  const bool forward = c.op == kForward;
  // One product in f32, and its rounding to the format.
  return {.tensors = {{.name = forward ? "x" : "dy", .dtype = c.dtype, .shape = c.shape},
                      {.name = forward ? "y" : "dx",
                       .dtype = c.dtype,
                       .shape = c.shape,
                       .role = Role::out,
                       .rounding = 1,
                       .arithmetic = 1}},
          .cost = {.read = bytes, .written = bytes}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const int64_t cols = c.shape.back(), stride = cols + c.padding;
  return {.x = t[0],
          .out = t[1],
          .rows = c.shape.size() > 1 ? c.shape[0] : 1,
          .cols = cols,
          .x_stride = stride,
          .out_stride = stride,
          .dtype = c.dtype,
          .p = share_of(c),
          .seed = c.seed * 0x100000007u,
          .offset = c.seed << 31};
}

}  // namespace ridge::dropout
