#include <climits>

#include "kernels/rainbow_table/family.h"
#include "ladder/cases.h"

namespace ridge::rainbow_table {

Family::Family() : Erased(rainbow_table::rungs()) {
  family = "rainbow_table";
  summary = "keys hashed over and over with FNV-1a";
  operators = {"rainbow_table"};
  dtypes = {Dtype::u32};
  shape_help = "KEYSxROUNDS";
  unit = "GOP/s";
  tests = crossed(
      {.dtypes = dtypes,
       .shapes = {{0, 5}, {5, 0}, {1, 1}, {255, 2}, {257, 3}, {1024, 5}, {1025, 64}, {4099, 7}},
       .specials = false});
  timings = {{.dtype = Dtype::u32, .shape = {1 << 24, 256}},
             {.dtype = Dtype::u32, .shape = {1 << 20, 4096}},
             {.dtype = Dtype::u32, .shape = {1 << 16, 4096}},
             {.dtype = Dtype::u32, .shape = {10'000'019, 100}}};
  tour = {.dtype = Dtype::u32, .shape = {1 << 16, 16}};
}

Status Family::check(const Case& c) const {
  if (const Status s = check_case(*this, c, 2); !s) return s;
  if (c.shape[1] > INT_MAX) return Error{2, "at most 2^31 - 1 rounds"};
  return Status::ok();
}

Workload Family::workload(const Case& c) const {
  const double n = double(c.shape[0]);
  return {.tensors = {{.name = "keys",
                       .dtype = c.dtype,
                       .shape = {c.shape[0]},
                       .fill = Fill::index,
                       .limit = int64_t(1) << 32},
                      {.name = "out",
                       .dtype = c.dtype,
                       .shape = {c.shape[0]},
                       .role = Role::out,
                       .rounding = 0,
                       .arithmetic = 0}},
          .cost = {.read = 4 * n, .written = 4 * n, .flops = n * double(c.shape[1]) * kOperations}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  return {.keys = t[0], .out = t[1], .n = c.shape[0], .rounds = int(c.shape[1]), .dtype = c.dtype};
}

}  // namespace ridge::rainbow_table
