#include "ladder/cases.h"

#include <algorithm>
#include <cmath>

#include "kernels/graph_degree/graph_degree.h"
#include "ladder/family.h"

namespace ridge::graph_degree {
namespace {

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (tensor != 0) return std::nullopt;
  const double vertices = double(c.size("vertices"));
  const uint64_t noise = hash(c.seed, uint64_t(index));
  if (noise % 64 == 0) return noise % 128 ? -1.0 : vertices;  // is not counted
  const double x = unit(hash(c.seed + 1, uint64_t(index)));
  if (c.is_distributed("star")) return std::floor(vertices / 2);
  if (c.is_distributed("sorted"))
    return std::floor(vertices * double(index) / double(std::max<int64_t>(c.size("edges"), 1)));
  return std::floor(vertices * (c.is_distributed("power_law") ? std::pow(x, 4) : x));
}

void workload(const Case& c, Workload& w) {
  w["degrees"].rounding = w["degrees"].arithmetic = 0;
  w.cost = {.read = 4 * double(c.size("edges")), .written = 4 * double(c.size("vertices"))};
}

std::vector<Case> tests() {
  std::vector<Case> cases = crossed({.dtypes = {Dtype::i32},
                                     .shapes = {{0, 5}, {1, 1}, {31, 3}, {33, 1}, {257, 300}},
                                     .specials = false});
  append(cases, crossed({.dtypes = {Dtype::i32},
                         .shapes = {{5003, 97}, {20011, 2000}},
                         .specials = false,
                         .distributions = {"uniform", "power_law", "sorted", "star"}}));
  cases.push_back({.dtype = Dtype::i32, .shape = {5, 0}});
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const char* distribution : {"uniform", "power_law", "sorted", "star"})
    cases.push_back(
        {.dtype = Dtype::i32, .shape = {1 << 26, 1 << 22}, .distribution = distribution});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "how many edges each node of a graph has",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::i32, .shape = {1 << 18, 1 << 14}},
          .input = input};
}

}  // namespace ridge::graph_degree
