#include <climits>

#include "kernels/occupancy_vs_ilp/family.h"
#include "ladder/cases.h"

namespace ridge::occupancy_vs_ilp {

Family::Family() : Erased(occupancy_vs_ilp::rungs()) {
  family = "occupancy_vs_ilp";
  summary = "chains of multiply-adds: more of them a thread, or more threads";
  operators = {"occupancy_vs_ilp"};
  dtypes = {Dtype::f32};
  shape_help = "CHAINSxSTEPS";
  unit = "GFLOP/s";
  tests = crossed({.shapes = {{0, 5}, {5, 0}, {1, 1}, {127, 3}, {129, 8}, {1025, 33}, {3001, 20}},
                   .specials = false});
  timings = {{.shape = {1 << 20, 4096}}};
  tour = {.shape = {1 << 14, 64}};
}

Status Family::check(const Case& c) const {
  if (const Status s = check_case(*this, c, 2); !s) return s;
  if (c.shape[1] > INT_MAX) return Error{2, "at most 2^31 - 1 steps"};
  return Status::ok();
}

Workload Family::workload(const Case& c) const {
  const double n = double(c.shape[0]);
  return {.tensors = {{.name = "x", .shape = {c.shape[0]}},
                      {.name = "y",
                       .shape = {c.shape[0]},
                       .role = Role::out,
                       .rounding = 0,
                       // A step rounds once, and halves what was wrong before: 1 + 1/2 + 1/4 …
                       .arithmetic = 2}},
          .cost = {.read = 4 * n, .written = 4 * n, .flops = 2 * n * double(c.shape[1])}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  return {.x = static_cast<const float*>(t[0]),
          .y = static_cast<float*>(t[1]),
          .n = c.shape[0],
          .steps = int(c.shape[1]),
          .dtype = c.dtype};
}

}  // namespace ridge::occupancy_vs_ilp
