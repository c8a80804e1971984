#include "ladder/cases.h"

#include "kernels/topk/topk.h"
#include "ladder/family.h"

namespace ridge::topk {
namespace {

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (tensor != 0 || c.is_distributed("random")) return std::nullopt;
  const double cols = double(c.size("cols")), place = double(index % c.size("cols")) / cols;
  if (c.is_distributed("rising")) return place;
  if (c.is_distributed("falling")) return -place;
  if (c.is_distributed("equal")) return 0.5;
  return double(hash(c.seed, uint64_t(index)) % 5) - 2;
}

void workload(const Case& c, Workload& w) {
  w["x"].fill = Fill::spread;
  for (const char* name : {"values", "indices"}) w[name].rounding = w[name].arithmetic = 0;
  const double rows = double(c.size("rows")), size = double(size_of(c.dtype));
  w.cost = {.read = rows * double(c.size("cols")) * size,
            .written = rows * double(c.size("k")) * (size + 4)};
}

std::vector<Case> with(std::vector<Case> cases, double largest, double sorted) {
  for (Case& c : cases) c.parameters = {{"largest", largest}, {"sorted", sorted}};
  return cases;
}

std::vector<Case> tests() {
  // Rows shorter than a pack, than a warp, than the buffer of rung 05 (1024 or 4096), and longer.
  std::vector<Case> cases = crossed({.dtypes = kFloats,
                                     .shapes = {{0, 5, 2},
                                                {1, 1, 1},
                                                {2, 7, 7},
                                                {3, 33, 5},
                                                {2, 1023, 32},
                                                {2, 1025, 64},
                                                {1, 3001, 100}},
                                     .padding = {0, 3}});
  append(
      cases,
      with(crossed({.dtypes = {Dtype::f32, Dtype::bf16}, .shapes = {{3, 40, 40}, {1, 2050, 33}}}),
           0, 1));
  append(cases,
         with(crossed({.dtypes = {Dtype::f16}, .shapes = {{3, 40, 17}, {1, 2050, 65}}}), 1, 0));
  append(cases, with(crossed({.dtypes = {Dtype::bf16}, .shapes = {{2, 1031, 20}}}), 0, 0));
  append(cases, crossed({.dtypes = {Dtype::f32, Dtype::f16},
                         .shapes = {{1, 4099, 16}, {1, 2500, 500}},
                         .misalignments = {1},
                         .specials = false,
                         .distributions = {"rising", "falling", "equal", "few_values"}}));
  // The last that is taken is 0, or has both zeros as its equals.
  append(cases, crossed({.shapes = {{3, 2, 1}, {2, 300, 2}},
                         .misalignments = {0},
                         .specials = false,
                         .distributions = {"falling"}}));
  append(cases, with(crossed({.shapes = {{9, 7, 3}, {3, 500, 260}},
                              .misalignments = {0},
                              .specials = false,
                              .distributions = {"few_values"}}),
                     0, 1));
  append(cases, crossed({.dtypes = {Dtype::bf16},
                         .shapes = {{1, 5003, 2048}},
                         .specials = false,
                         .distributions = {"random", "rising", "equal"}}));
  append(cases, crossed({.dtypes = {Dtype::bf16},
                         .shapes = {{1, 20011, 64}},
                         .specials = false,
                         .distributions = {"random", "rising"}}));
  // This row is long enough for rung 05 to give it 512 threads.
  append(cases, crossed({.dtypes = {Dtype::bf16}, .shapes = {{2, 33001, 100}}}));
  return cases;
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::bf16, .shape = {64, 128256, 64}},
          {.dtype = Dtype::bf16, .shape = {1024, 128256, 64}},
          {.dtype = Dtype::f32, .shape = {64, 128256, 64}},
          {.dtype = Dtype::f32, .shape = {1, 1 << 26, 64}},
          {.dtype = Dtype::bf16, .shape = {1, 128256, 50}},
          {.dtype = Dtype::bf16, .shape = {64, 128256, 2048}},
          {.dtype = Dtype::f32, .shape = {65536, 256, 8}},
          {.dtype = Dtype::bf16, .shape = {1024, 128256, 64}, .distribution = "rising"}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "the k largest or smallest elements of each row, and where they are",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::bf16, .shape = {4, 8192, 32}},
          .input = input};
}

}  // namespace ridge::topk
