#include "ladder/cases.h"
#include "kernels/vector_add/family.h"

namespace ridge::vector_add {
namespace {

enum Op { kVector, kMatrix };

int64_t rows_of(const Case& c) { return c.op == kVector ? 1 : c.shape[0]; }
int64_t cols_of(const Case& c) { return c.shape.back(); }

}  // namespace

Family::Family() : Erased(vector_add::rungs()) {
  family = "vector_add";
  summary = "out = a + b";
  operators = {"vector_add", "matrix_add"};
  dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};
  shape_help = "N, or ROWSxCOLUMNS for matrix_add";
  tests = crossed({.ops = {kVector}, .dtypes = dtypes, .shapes = vector_shapes()});
  append(
      tests,
      crossed({.ops = {kMatrix}, .dtypes = dtypes, .shapes = matrix_shapes(), .padding = {0, 3}}));
  timings = {{.dtype = Dtype::f32, .shape = {1 << 28}},
             {.dtype = Dtype::bf16, .shape = {1 << 28}},
             {.dtype = Dtype::f32, .shape = {1 << 24}},
             {.dtype = Dtype::f32, .shape = {100'000'007}},
             {.op = kMatrix, .dtype = Dtype::bf16, .shape = {8191, 8193}}};
  tour = {.shape = {1 << 20}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, c.op == kVector ? 1 : 2); }

Workload Family::workload(const Case& c) const {
  const double bytes = double(rows_of(c)) * double(cols_of(c)) * double(size_of(c.dtype));
  return {.tensors = {{.name = "a", .dtype = c.dtype, .shape = c.shape},
                      {.name = "b", .dtype = c.dtype, .shape = c.shape},
                      {.name = "out", .dtype = c.dtype, .shape = c.shape, .role = Role::out}},
          .cost = {.read = 2 * bytes, .written = bytes}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const int64_t stride = cols_of(c) + c.padding;
  return {.a = t[0],
          .b = t[1],
          .out = t[2],
          .rows = rows_of(c),
          .cols = cols_of(c),
          .a_stride = stride,
          .b_stride = stride,
          .out_stride = stride,
          .dtype = c.dtype};
}

}  // namespace ridge::vector_add
