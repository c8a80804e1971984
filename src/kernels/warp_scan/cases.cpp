#include "ladder/cases.h"

#include "kernels/warp_scan/warp_scan.h"
#include "ladder/family.h"

namespace ridge::warp_scan {
namespace {

void workload(const Case& c, Workload& w) {
  const bool is_exact = c.dtype == Dtype::i32;
  w["in"].fill = is_exact ? Fill::small_ints : Fill::uniform;
  w["out"].rounding = 0;
  w["out"].arithmetic = is_exact ? 0 : 7;  // additions in a row: three, three and one in 03_packs
  const double rows = double(c.size("rows"));
  const double row_bytes = kLanes * double(size_of(c.dtype));
  w.cost = {.read = rows * row_bytes, .written = rows * row_bytes};
}

std::vector<Case> tests() {
  return crossed({.dtypes = {Dtype::i32, Dtype::f32},
                  .shapes = {{0}, {1}, {7}, {8}, {9}, {1031}},
                  .padding = {0, 3},
                  .specials = false});
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::i32, .shape = {1 << 23}}, {.dtype = Dtype::f32, .shape = {1 << 23}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "out(r, c) = the sum of in(r, 0 … c), rows of 32",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::i32, .shape = {1 << 13}}};
}

}  // namespace ridge::warp_scan
