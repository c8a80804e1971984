#include "ladder/cases.h"

#include "kernels/colour_pattern/colour_pattern.h"
#include "ladder/family.h"

namespace ridge::colour_pattern {
namespace {

void workload(const Case&, Workload& w) {
  w["out"].rounding = 0;
  w["out"].arithmetic = 1;  // of the magnitude that the reference gives: one level
  w.cost = {.written = double(count(w["out"].shape))};
}

std::vector<Case> tests() {
  return crossed({.dtypes = {Dtype::u8},
                  .shapes = {{0, 4, 4},
                             {2, 0, 5},
                             {1, 1, 1},
                             {1, 3, 15},
                             {2, 5, 16},
                             {3, 2, 17},
                             {2, 33, 100},
                             {4, 40, 64}},
                  .misalignments = {0, 1, 7},
                  .padding = {0, 5},
                  .specials = false});
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::u8, .shape = {64, 1080, 1920}},
          {.dtype = Dtype::u8, .shape = {1, 8192, 8192}},
          {.dtype = Dtype::u8, .shape = {256, 511, 509}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "an animated plasma, as rgb frames",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::u8, .shape = {2, 128, 192}}};
}

}  // namespace ridge::colour_pattern
