#include "ladder/cases.h"

#include <cmath>

#include "kernels/jacobi/jacobi.h"
#include "ladder/family.h"

namespace ridge::jacobi {
namespace {

void workload(const Case& c, Workload& w) {
  const bool is_3d = Op(c.op) == Op::jacobi3d;
  const double iterations = c.number("iterations");
  // Each iteration rounds 3 or 5 sums, and the factor 1/6 and its product.
  w["y"].arithmetic = (is_3d ? 7 : 3) * iterations;
  // A mean of 4 whole numbers has 2 more binary digits: up to here nothing is rounded.
  if (!is_3d && iterations <= 9 && !c.specials && c.seed % 2 == 0) {
    w["x"].fill = Fill::counted;
    w["y"].arithmetic = 0;
  }
  w["y"].rounding = 0;
  const double elements = double(count(w["x"].shape));
  w.cost = {.read = 4 * elements,
            .written = 4 * elements,
            .flops = elements * iterations * (is_3d ? 6 : 4)};
}

std::optional<double> input(const Case& c, size_t, int64_t index) {
  if (!c.specials) return std::nullopt;
  const uint64_t bits = hash(c.seed, uint64_t(index));
  if (bits % 256 < 3) {
    constexpr double kValues[] = {NAN, INFINITY, -INFINITY};
    return kValues[bits % 256];
  }
  return double(int(bits >> 8 & 7) - 3);
}

std::vector<Case> tests() {
  // Around tiles of 32 x 8 and 32 x 32 and strips of 32 rows, and several launches of 4 iterations.
  const Shapes flat = {{0, 5}, {1, 1}, {2, 7}, {3, 3}, {9, 33}, {31, 32}, {34, 61}, {70, 129}};
  const Shapes deep = {{0, 3, 3},   {1, 4, 5},    {3, 3, 3}, {2, 9, 9},
                       {9, 10, 33}, {17, 21, 37}, {40, 9, 7}};
  std::vector<Case> cases;
  for (const double iterations : {0, 1, 2, 3, 4, 9}) {
    append(cases, crossed({.ops = {0},
                           .shapes = flat,
                           .specials = false,
                           .parameters = {{"iterations", iterations}}}));
    append(cases, crossed({.ops = {1},
                           .shapes = deep,
                           .misalignments = {0},
                           .specials = false,
                           .parameters = {{"iterations", iterations}}}));
  }
  append(cases, crossed({.ops = {0},
                         .shapes = {{34, 61}},
                         .misalignments = {0},
                         .parameters = {{"iterations", 3}}}));
  append(cases, crossed({.ops = {1},
                         .shapes = {{9, 10, 33}},
                         .misalignments = {0},
                         .parameters = {{"iterations", 2}}}));
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const auto& shape : Shapes{{8192, 8192}, {4095, 4097}})
    cases.push_back({.op = 0, .shape = shape, .parameters = {{"iterations", 8}}});
  for (const auto& shape : Shapes{{512, 512, 512}, {255, 257, 259}})
    cases.push_back({.op = 1, .shape = shape, .parameters = {{"iterations", 8}}});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "Jacobi's method on grids of two and three dimensions, several iterations",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {130, 192}, .parameters = {{"iterations", 8}}},
          .input = input};
}

}  // namespace ridge::jacobi
