#include "kernels/gemv/cases.h"

#include "kernels/gemv/gemv.h"
#include "ladder/family.h"

namespace ridge::gemv {
namespace {

std::vector<Case> tests() {
  // Around a pack, a warp's and a block's share of packs, and the widths at which the
  // lanes per row change.
  std::vector<Case> cases = crossed({.dtypes = kFloats,
                                     .shapes = {{0, 5},
                                                {5, 0},
                                                {1, 1},
                                                {3, 7},
                                                {257, 9},
                                                {35, 48},
                                                {21, 200},
                                                {13, 260},
                                                {67, 127},
                                                {65, 128},
                                                {9, 129},
                                                {7, 1031},
                                                {5, 4096},
                                                {3, 8197}},
                                     .padding = {0, 3}});
  append(cases, crossed({.dtypes = kFloats,
                         .shapes = {{4, 0}, {33, 31}, {6, 2048}, {5, 4099}},
                         .padding = {0, 8},
                         .parameters = {{"alpha", 1.5}, {"beta", -0.5}}}));
  append(cases, crossed({// one row over many blocks; rows padded to other packs
                         .dtypes = kFloats,
                         .shapes = {{1, 70001}, {2, 65536}},
                         .specials = false}));
  for (Case& c : cases) c.exact = c.seed % 2 == 0;  // every other one
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "y = alpha A x + beta y",
          .workload = workload<false>,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1024, 1024}},
          .input = input<false>,
          .truth_at = truth_at<false>,
          .proof = proof<false>};
}

}  // namespace ridge::gemv
