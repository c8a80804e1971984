#include "ladder/cases.h"

#include "kernels/image/image.h"
#include "ladder/family.h"

namespace ridge::image {
namespace {

void workload(const Case& c, Workload& w) {
  w["in"].fill = Fill::bytes;
  w["out"].rounding = w["out"].arithmetic = 0;  // exact: see image.h
  const double pixels = double(c.size("height")) * double(c.size("width"));
  w.cost = {.read = pixels * in_channels(Op(c.op)), .written = pixels * out_channels(Op(c.op))};
}

std::vector<Case> tests() {
  std::vector<Case> cases = crossed({.ops = {0, 1},
                                     .dtypes = {Dtype::u8},
                                     .shapes = {{0, 5},
                                                {5, 0},
                                                {1, 1},
                                                {1, 15},
                                                {2, 16},
                                                {3, 17},
                                                {33, 31},
                                                {8, 1031},
                                                {64, 64},
                                                {40, 50}},
                                     .padding = {0, 5},
                                     .specials = false});
  // Around tiles of 32 x 32, strips of 240 columns and runs of 16 and 64 rows.
  append(cases, crossed({.ops = {2, 3},
                         .dtypes = {Dtype::u8},
                         .shapes = {{0, 5},
                                    {5, 0},
                                    {1, 1},
                                    {1, 300},
                                    {300, 1},
                                    {3, 3},
                                    {9, 239},
                                    {17, 240},
                                    {15, 241},
                                    {33, 31},
                                    {80, 485}},
                         .padding = {0, 5},
                         .specials = false}));
  // Rows of both images that start at different places of a pack, and that differ in their padding.
  for (int op = 0; op < 4; ++op)
    for (const int skew : {1, 3, 6})
      cases.push_back({.op = op,
                       .dtype = Dtype::u8,
                       .shape = {21, 333},
                       .seed = cases.size() + 1,
                       .misalignment = 2,
                       .skew = skew,
                       .padding = 3,
                       .padding_skew = skew - 1});
  return cases;
}

std::vector<Case> timings() {
  const Shapes real = {{8192, 8192}, {16384, 16384}, {2160, 3840}, {8191, 8193}};
  std::vector<Case> cases;
  for (int op = 0; op < 4; ++op)
    for (const auto& shape : real) cases.push_back({.op = op, .dtype = Dtype::u8, .shape = shape});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "images of bytes: inverted, grey, blurred",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::u8, .shape = {256, 480}}};
}

}  // namespace ridge::image
