#include "ladder/cases.h"

#include "kernels/matmul_by_shuffles/matmul_by_shuffles.h"
#include "ladder/family.h"

namespace ridge::matmul_by_shuffles {
namespace {

void workload(const Case& c, Workload& w) {
  w["c"].rounding = 0;
  w["c"].arithmetic = kEdge;  // a rounding for each product added
  const double elements = double(c.size("batch")) * kElements;
  w.cost = {.read = 8 * elements, .written = 4 * elements, .flops = 2 * kEdge * elements};
}

std::vector<Case> tests() {
  return crossed({.shapes = {{0}, {1}, {3}, {4}, {5}, {37}}, .specials = false});
}

std::vector<Case> timings() { return {{.shape = {1 << 17}}}; }

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "many products of 32 x 32, a warp each",
          .unit = "GFLOP/s",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {64}}};
}

}  // namespace ridge::matmul_by_shuffles
