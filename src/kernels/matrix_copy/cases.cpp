#include "ladder/cases.h"
#include "kernels/matrix_copy/family.h"

namespace ridge::matrix_copy {

Family::Family() : Erased(matrix_copy::rungs()) {
  family = "matrix_copy";
  summary = "out = in";
  operators = {"matrix_copy"};
  dtypes = {Dtype::f32, Dtype::bf16, Dtype::u8};
  shape_help = "ROWSxCOLUMNS";
  const Shapes shapes = {{0, 5},   {5, 0},   {1, 1},   {1, 257}, {257, 1},  {31, 33},
                         {32, 32}, {33, 31}, {64, 64}, {9, 15},  {37, 1031}};
  tests = crossed({.dtypes = dtypes, .shapes = shapes, .padding = {0, 3}, .specials = false});
  // Input and output at different places modulo 16 bytes.
  for (const Dtype dtype : dtypes)
    for (const auto& shape : Shapes{{1, 1}, {1, 4099}, {5, 16}, {37, 131}})
      for (const int skew : {1, 3})
        for (const int64_t padding : {0, 5})
          tests.push_back({.dtype = dtype,
                           .shape = shape,
                           .seed = tests.size() + 1,
                           .misalignment = 1,
                           .skew = skew,
                           .padding = padding});
  timings = {{.dtype = Dtype::f32, .shape = {16384, 16384}},
             {.dtype = Dtype::bf16, .shape = {16384, 16384}},
             {.dtype = Dtype::u8, .shape = {16384, 16384}},
             {.dtype = Dtype::f32, .shape = {4096, 4096}},
             {.dtype = Dtype::bf16, .shape = {8191, 8193}}};
  tour = {.shape = {1024, 1024}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 2); }

Workload Family::workload(const Case& c) const {
  const double bytes = double(count(c.shape)) * double(size_of(c.dtype));
  return {.tensors = {{.name = "in",
                       .dtype = c.dtype,
                       .shape = c.shape,
                       .fill = c.dtype == Dtype::u8 ? Fill::bytes : Fill::uniform},
                      {.name = "out",
                       .dtype = c.dtype,
                       .shape = c.shape,
                       .role = Role::out,
                       .rounding = 0,  // bits are moved
                       .arithmetic = 0}},
          .cost = {.read = bytes, .written = bytes}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const int64_t stride = c.shape[1] + c.padding;
  return {.in = t[0],
          .out = t[1],
          .rows = c.shape[0],
          .cols = c.shape[1],
          .in_stride = stride,
          .out_stride = stride,
          .dtype = c.dtype};
}

}  // namespace ridge::matrix_copy
