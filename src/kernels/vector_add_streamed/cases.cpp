#include "ladder/cases.h"
#include "kernels/vector_add_streamed/family.h"

namespace ridge::vector_add_streamed {

Family::Family() : Erased(vector_add_streamed::rungs()) {
  family = "vector_add_streamed";
  summary = "out = a + b from host memory to host memory";
  operators = {"vector_add_streamed"};
  dtypes = {Dtype::f32};
  shape_help = "N";
  // Around a chunk, and more chunks than any rung has streams.
  tests = crossed({.shapes = {{0}, {1}, {16383}, {16384}, {16385}, {200003}}});
  timings = {
      {.shape = {1 << 26}}, {.shape = {1 << 24}}, {.shape = {1 << 20}}, {.shape = {100'000'007}}};
  tour = {.shape = {1 << 18}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 1); }

Workload Family::workload(const Case& c) const {
  const double bytes = double(c.shape[0]) * 4;
  // The sum of two floats is rounded once.
  return {.tensors = {{.name = "a", .shape = c.shape, .on_host = true},
                      {.name = "b", .shape = c.shape, .on_host = true},
                      {.name = "out",
                       .shape = c.shape,
                       .role = Role::out,
                       .rounding = 1,
                       .arithmetic = 0,
                       .on_host = true}},
          .cost = {.read = 2 * bytes, .written = bytes, .to_device = 2 * bytes, .to_host = bytes}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  return {.a = static_cast<const float*>(t[0]),
          .b = static_cast<const float*>(t[1]),
          .out = static_cast<float*>(t[2]),
          .n = c.shape[0],
          .dtype = c.dtype};
}

}  // namespace ridge::vector_add_streamed
