#include "ladder/cases.h"
#include "kernels/matmul_by_shuffles/family.h"

namespace ridge::matmul_by_shuffles {

Family::Family() : Erased(matmul_by_shuffles::rungs()) {
  family = "matmul_by_shuffles";
  summary = "many products of 32 x 32, a warp each";
  operators = {"matmul_by_shuffles"};
  dtypes = {Dtype::f32};
  shape_help = "BATCH, of 32 x 32 each";
  unit = "GFLOP/s";
  tests = crossed({.shapes = {{0}, {1}, {3}, {4}, {5}, {37}}, .specials = false});
  timings = {{.shape = {1 << 17}}};
  tour = {.shape = {64}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 1); }

Workload Family::workload(const Case& c) const {
  const double elements = double(c.shape[0]) * kElements;
  const std::vector<int64_t> shape = {c.shape[0] * kElements};
  return {.tensors = {{.name = "a", .shape = shape},
                      {.name = "b", .shape = shape},
                      {.name = "c",
                       .shape = shape,
                       .role = Role::out,
                       .rounding = 0,
                       .arithmetic = kEdge}},  // a rounding for each product added
          .cost = {.read = 8 * elements, .written = 4 * elements, .flops = 2 * kEdge * elements}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  return {.a = static_cast<const float*>(t[0]),
          .b = static_cast<const float*>(t[1]),
          .c = static_cast<float*>(t[2]),
          .batch = c.shape[0],
          .dtype = c.dtype};
}

}  // namespace ridge::matmul_by_shuffles
