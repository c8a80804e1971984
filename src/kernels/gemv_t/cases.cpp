#include "kernels/gemv/cases.h"

#include "kernels/gemv_t/gemv_t.h"
#include "ladder/family.h"

namespace ridge::gemv_t {
namespace {

std::vector<Case> tests() {
  // Around a pack, and the widths at which the lanes per row change; rows around a block's share,
  // and around a step of it.
  std::vector<Case> cases = crossed({.dtypes = kFloats,
                                     .shapes = {{5, 0},
                                                {0, 5},
                                                {1, 1},
                                                {7, 3},
                                                {259, 9},
                                                {127, 67},
                                                {31, 256},
                                                {33, 511},
                                                {1031, 17},
                                                {70, 1040},
                                                {1, 21},
                                                {47, 505},
                                                {97, 513}},
                                     .padding = {0, 3}});
  append(cases, crossed({.dtypes = kFloats,
                         .shapes = {{0, 4}, {31, 33}, {300, 72}},
                         .padding = {0, 8},
                         .parameters = {{"alpha", 1.5}, {"beta", -0.5}}}));
  append(cases, crossed({// many slices
                         .dtypes = kFloats,
                         .shapes = {{20011, 8}, {4099, 24}, {2311, 509}, {1201, 1016}},
                         .specials = false}));
  cases.push_back({.shape = {131, 68001}, .seed = 2});  // tiles for all SMs, and slices of them
  for (Case& c : cases) c.exact = c.seed % 2 == 0;      // every other one
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "y = alpha transpose(A) x + beta y",
          .workload = gemv::workload<true>,
          .tests = tests,
          .timings = gemv::timings,
          .tour = {.shape = {1024, 1024}},
          .input = gemv::input<true>,
          .truth_at = gemv::truth_at<true>,
          .proof = gemv::proof<true>};
}

}  // namespace ridge::gemv_t
