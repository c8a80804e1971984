#include "ladder/cases.h"

#include "kernels/occupancy_vs_ilp/occupancy_vs_ilp.h"
#include "ladder/family.h"

namespace ridge::occupancy_vs_ilp {
namespace {

void workload(const Case& c, Workload& w) {
  w["y"].rounding = 0;
  w["y"].arithmetic = 2;  // a step rounds once, and halves what was wrong before: 1 + 1/2 + 1/4 …
  const double n = double(c.size("chains"));
  w.cost = {.read = 4 * n, .written = 4 * n, .flops = 2 * n * c.number("steps")};
}

std::vector<Case> tests() {
  return crossed({.shapes = {{0, 5}, {5, 0}, {1, 1}, {127, 3}, {129, 8}, {1025, 33}, {3001, 20}},
                  .specials = false});
}

std::vector<Case> timings() { return {{.shape = {1 << 20, 4096}}}; }

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "chains of multiply-adds: more of them a thread, or more threads",
          .unit = "GFLOP/s",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1 << 14, 64}}};
}

}  // namespace ridge::occupancy_vs_ilp
