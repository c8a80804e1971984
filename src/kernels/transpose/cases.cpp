#include "ladder/cases.h"

#include "kernels/transpose/transpose.h"
#include "ladder/family.h"

namespace ridge::transpose {
namespace {

const Formats kTested = {Dtype::f32, Dtype::bf16, Dtype::u8};

void workload(const Case& c, Workload& w) {
  const double bytes = double(count(c.shape)) * double(size_of(c.dtype));
  fill_for_moves(w["in"]);
  w["out"].rounding = w["out"].arithmetic = 0;  // bits are moved
  w.cost = {.read = bytes, .written = bytes};
}

std::vector<Case> tests() {
  // Around the tiles of most rungs: 32, 64, 128.
  std::vector<Case> cases = crossed({.dtypes = kTested,
                                     .shapes = {{0, 5},
                                                {5, 0},
                                                {2, 2},
                                                {2, 257},
                                                {257, 2},
                                                {31, 33},
                                                {64, 64},
                                                {65, 63},
                                                {128, 96},
                                                {129, 131},
                                                {3, 37, 100},
                                                {2, 16, 64}},
                                     .padding = {0, 3},
                                     .specials = false});
  append(cases, crossed({.dtypes = {Dtype::f16}, .shapes = {{70, 90}}}));
  // Around the largest tiles, more than one group of them, aligned rows that end inside a pack, and
  // all phases of a pack.
  append(cases, crossed({.dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::u8},
                         .shapes = {{256, 257}, {300, 520}, {1100, 70}},
                         .specials = false}));
  append(cases, crossed({.dtypes = kTested,
                         .shapes = {{130, 150}},
                         .misalignments = {0, 2, 5, 11},
                         .padding = {1, 10, 16},
                         .specials = false}));
  for (const Dtype dtype : kTested) {
    cases.push_back({.dtype = dtype, .shape = {96, 160}, .misalignment = 3, .skew = 2});
    // Rows further apart on one side, several dimensions of matrices, columns one after another on
    // both sides.
    cases.push_back({.dtype = dtype, .shape = {70, 90}, .padding = 1, .padding_skew = 7});
    cases.push_back({.dtype = dtype, .shape = {2, 3, 33, 34}, .padding_skew = 1});
    cases.push_back(
        {.dtype = dtype, .shape = {70, 90}, .padding_skew = 2, .transposed = {"in", "out"}});
  }
  return cases;
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::f32, .shape = {16384, 16384}},
          {.dtype = Dtype::bf16, .shape = {16384, 16384}},
          {.dtype = Dtype::u8, .shape = {16384, 16384}},
          {.dtype = Dtype::f32, .shape = {8191, 8193}},
          {.dtype = Dtype::bf16, .shape = {8191, 8193}},
          {.dtype = Dtype::u8, .shape = {16383, 16385}},
          {.dtype = Dtype::f32, .shape = {4096, 4096}},
          {.dtype = Dtype::bf16, .shape = {64, 2048, 1024}},
          {.dtype = Dtype::f32, .shape = {1 << 22, 48}}};
}

std::optional<Truth> truth_at(const Case& c, const Elements& inputs, size_t, int64_t index) {
  const int64_t rows = c.size("rows"), cols = c.size("cols"), matrix = rows * cols;
  const int64_t row = index % rows, col = index % matrix / rows;
  return plain_truth(inputs.at(0, index / matrix * matrix + row * cols + col));
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "out(..., c, r) = in(..., r, c)",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1024, 768}},
          .truth_at = truth_at};
}

}  // namespace ridge::transpose
