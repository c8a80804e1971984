#include "ladder/cases.h"

#include <cmath>

#include "kernels/token_sampling/token_sampling.h"
#include "ladder/family.h"

namespace ridge::token_sampling {
namespace {

// Tokens are compared exactly. Two scores, or a share and top_p, may be so near to each other that
// a rounding decides; seeds are fixed, and of those below it decides none.
void workload(const Case& c, Workload& w) {
  w["tokens"].rounding = w["tokens"].arithmetic = 0;
  w.cost.read = double(c.size("rows")) * double(c.size("cols")) * double(size_of(c.dtype));
  w.cost.written = double(c.size("rows")) * sizeof(int32_t);
}

std::optional<double> input(const Case& c, size_t, int64_t index) {
  const int64_t cols = c.size("cols"), r = index / cols, col = index % cols;
  const uint64_t noise = hash(c.seed, uint64_t(index));
  const double plain = 16 * unit(noise) - 8;
  if (c.specials) {
    switch (r % 6) {
      case 0: return col == cols - 1 ? NAN : plain;
      case 1: return col == cols / 2 ? INFINITY : plain;
      case 2: return -INFINITY;
      case 3: return col % 3 ? -INFINITY : plain;  // a mask
      case 4: return col == cols / 3 ? -1e4 : -INFINITY;
      default: return col % 2 ? -0.0 : 0.0;
    }
  }
  if (c.is_distributed("equal")) return 2.5;
  if (c.is_distributed("few_values")) return double(noise % 5) - 2;
  if (c.is_distributed("peaked")) return noise % uint64_t(cols) < 3 ? 40 : plain;
  return plain;
}

struct Setting {
  double temperature, top_k, top_p, min_p;
};
std::vector<Case> with_settings(const std::vector<Case>& cases,
                                const std::vector<Setting>& settings) {
  std::vector<Case> all;
  for (const Case& c : cases)
    for (const Setting& s : settings) {
      all.push_back(c);
      all.back().parameters = {{"temperature", s.temperature},
                               {"top_k", s.top_k},
                               {"top_p", s.top_p},
                               {"min_p", s.min_p},
                               {"seed", double(all.size())},
                               {"offset", double(all.size() % 3)}};
    }
  return all;
}

std::vector<Case> tests() {
  const std::vector<Setting> few = {{1, 0, 1, 0}, {0.7, 0, 0.9, 0}, {1.5, 3, 1, 0.05}};
  const std::vector<Setting> all = {{0, 0, 1, 0},    {1, 0, 0, 0},     {1, 1, 1, 0},
                                    {1, 5, 0.55, 0}, {1, 0, 0.3, 0.2}, {2, 100000, 0.99, 0},
                                    {0.5, 20, 1, 1}, {1, 0, 1, 0.1},   {1, 0, 0.55, 0}};
  std::vector<Case> cases = with_settings(
      crossed({.dtypes = kFloats, .shapes = {{0, 5}, {1, 1}, {5, 7}, {7, 33}, {12, 1031}}}), few);
  append(cases,
         with_settings(crossed({.dtypes = {Dtype::f32, Dtype::bf16},
                                .shapes = {{3, 257}},
                                .misalignments = {1},
                                .specials = false,
                                .distributions = {"random", "equal", "few_values", "peaked"}}),
                       all));
  append(cases, with_settings(crossed({.dtypes = {Dtype::bf16},
                                       .shapes = {{1, 70001}},
                                       .misalignments = {0},
                                       .specials = false}),
                              {{1, 30, 0.8, 0}}));
  append(cases, with_settings(crossed({.dtypes = {Dtype::f16},
                                       .shapes = {{6, 40}},
                                       .misalignments = {0},
                                       .padding = {3},
                                       .specials = false}),
                              few));
  append(cases, with_settings(crossed({.shapes = {{2, 3, 31}, {40}}, .specials = false}), few));
  // Shares that a whole number of tokens has exactly.
  append(cases, with_settings(crossed({.dtypes = kFloats,
                                       .shapes = {{9, 256}},
                                       .misalignments = {0},
                                       .specials = false,
                                       .distributions = {"equal"}}),
                              {{1, 0, 0.5, 0}, {1, 64, 0.25, 0}, {1, 0, 0.00390625, 0}}));
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const auto& shape : Shapes{{64, 128256}, {1024, 128256}, {1, 128256}, {256, 32000}})
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32}) {
      cases.push_back({.dtype = dtype, .shape = shape, .parameters = {{"top_p", 0.9}}});
      cases.push_back({.dtype = dtype, .shape = shape, .parameters = {{"min_p", 0.05}}});
    }
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "a token for each row of logits: temperature, top-k, top-p, min-p; replayable",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::bf16, .shape = {16, 2048}, .parameters = {{"top_p", 0.9}}},
          .input = input};
}

}  // namespace ridge::token_sampling
