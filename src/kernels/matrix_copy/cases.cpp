#include "ladder/cases.h"

#include "kernels/matrix_copy/matrix_copy.h"
#include "ladder/family.h"

namespace ridge::matrix_copy {
namespace {

const Formats kTested = {Dtype::f32, Dtype::bf16, Dtype::u8};

void workload(const Case& c, Workload& w) {
  const double bytes = double(c.size("n")) * double(size_of(c.dtype));
  fill_for_moves(w["in"]);
  w["out"].rounding = w["out"].arithmetic = 0;  // bits are moved
  w.cost = {.read = bytes, .written = bytes};
}

std::vector<Case> tests() {
  std::vector<Case> cases = crossed({.dtypes = kTested,
                                     .shapes = {{0, 5},
                                                {5, 0},
                                                {1, 1},
                                                {1, 257},
                                                {257, 1},
                                                {31, 33},
                                                {32, 32},
                                                {33, 31},
                                                {64, 64},
                                                {9, 15},
                                                {37, 1031}},
                                     .padding = {0, 3},
                                     .specials = false});
  const auto add = [&](Case c) {
    c.seed = cases.size() + 1;
    cases.push_back(std::move(c));
  };
  for (const Dtype dtype : kTested) {
    // Input and output at different places modulo 16 bytes.
    for (const auto& shape : Shapes{{1, 1}, {1, 4099}, {5, 16}, {37, 131}})
      for (const int skew : {1, 3})
        for (const int64_t padding : {0, 5})
          add({.dtype = dtype,
               .shape = shape,
               .misalignment = 1,
               .skew = skew,
               .padding = padding});
    // Rows further apart on one side; columns that lie one after another on both; elements with
    // gaps, which take one launch for each line.
    add({.dtype = dtype, .shape = {37, 131}, .padding = 1, .padding_skew = 6});
    add({.dtype = dtype, .shape = {3, 37, 65}, .padding_skew = 2});
    add({.dtype = dtype, .shape = {37, 131}, .padding_skew = 3, .transposed = {"in", "out"}});
    add({.dtype = dtype, .shape = {5, 300}, .misalignment = 1, .skew = 1, .step = 3});
  }
  for (const Dtype dtype : {Dtype::f64, Dtype::i64})  // in pairs of words
    for (const int64_t step : {1, 2})
      add({.dtype = dtype,
           .shape = {9, 131},
           .misalignment = 1,
           .skew = 1,
           .padding = 1,
           .step = step});
  return cases;
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::f32, .shape = {16384, 16384}},
          {.dtype = Dtype::bf16, .shape = {16384, 16384}},
          {.dtype = Dtype::u8, .shape = {16384, 16384}},
          {.dtype = Dtype::f32, .shape = {4096, 4096}},
          {.dtype = Dtype::bf16, .shape = {8191, 8193}}};
}

std::optional<Truth> truth_at(const Case&, const Elements& inputs, size_t, int64_t index) {
  return plain_truth(inputs.at(0, index));
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "out = in",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1024, 1024}},
          .truth_at = truth_at};
}

}  // namespace ridge::matrix_copy
