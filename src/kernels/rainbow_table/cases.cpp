#include "ladder/cases.h"

#include "kernels/rainbow_table/rainbow_table.h"
#include "ladder/family.h"

namespace ridge::rainbow_table {
namespace {

void workload(const Case& c, Workload& w) {
  w["keys"].fill = Fill::index;
  w["keys"].limit = int64_t(1) << 32;
  w["out"].rounding = w["out"].arithmetic = 0;
  const double n = double(c.size("n"));
  w.cost = {.read = 4 * n,
            .written = 4 * n,
            .flops = n * c.number("rounds") * kOperations,
            .arithmetic = Arithmetic::integer};
}

std::vector<Case> tests() {
  return crossed(
      {.dtypes = {Dtype::u32},
       .shapes = {{0, 5}, {5, 0}, {1, 1}, {255, 2}, {257, 3}, {1024, 5}, {1025, 64}, {4099, 7}},
       .specials = false});
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::u32, .shape = {1 << 24, 256}},
          {.dtype = Dtype::u32, .shape = {1 << 20, 4096}},
          {.dtype = Dtype::u32, .shape = {1 << 16, 4096}},
          {.dtype = Dtype::u32, .shape = {10'000'019, 100}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "keys hashed over and over with FNV-1a",
          .unit = "GOP/s",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::u32, .shape = {1 << 16, 16}}};
}

}  // namespace ridge::rainbow_table
