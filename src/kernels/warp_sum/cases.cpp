#include "ladder/cases.h"
#include "kernels/warp_sum/family.h"

namespace ridge::warp_sum {

Family::Family() : Erased(warp_sum::rungs()) {
  family = "warp_sum";
  summary = "out[r] = the sum of row r of 32";
  operators = {"warp_sum"};
  dtypes = {Dtype::i32, Dtype::f32};
  shape_help = "ROWS, of 32 numbers each";
  tests = crossed({.dtypes = dtypes,
                   .shapes = {{0}, {1}, {7}, {8}, {9}, {1031}},
                   .padding = {0, 3},
                   .specials = false});
  timings = {{.dtype = Dtype::i32, .shape = {1 << 23}}, {.dtype = Dtype::f32, .shape = {1 << 23}}};
  tour = {.dtype = Dtype::i32, .shape = {1 << 13}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 1); }

Workload Family::workload(const Case& c) const {
  const int64_t rows = c.shape[0];
  const double row_bytes = kLanes * double(size_of(c.dtype));
  return {.tensors = {{.name = "in",
                       .dtype = c.dtype,
                       .shape = {rows, kLanes},
                       .fill = c.dtype == Dtype::i32 ? Fill::small_ints : Fill::uniform},
                      {.name = "out",
                       .dtype = c.dtype,
                       .shape = {rows},
                       .role = Role::out,
                       .rounding = 0,
                       .arithmetic = c.dtype == Dtype::i32 ? 0.0 : 5.0}},  // a tree five deep
          .cost = {.read = double(rows) * row_bytes,
                   .written = double(rows) * double(size_of(c.dtype))}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  return {.in = t[0],
          .out = t[1],
          .rows = c.shape[0],
          .in_stride = kLanes + c.padding,
          .dtype = c.dtype};
}

}  // namespace ridge::warp_sum
