#include "ladder/cases.h"

#include <algorithm>
#include <cmath>

#include "kernels/graph_paths/graph_paths.h"
#include "ladder/family.h"

namespace ridge::graph_paths {
namespace {

// Odd seeds of sssp have weights of any size, even ones whole numbers, whose sums are exact.
bool is_exact(const Case& c) { return c.op == 0 || c.seed % 2 == 0; }

// Where the edges of node v begin. Of a power law, node v has a share like v^-0.6 of all.
int64_t offset_of(const Case& c, int64_t v) {
  const double vertices = double(std::max<int64_t>(c.size("vertices"), 1));
  const double share = double(v) / vertices;
  const double through = c.is_distributed("power_law") ? std::pow(share, 0.4) : share;
  return std::min(int64_t(double(c.size("edges")) * through + 1e-9), c.size("edges"));
}
int64_t node_of(const Case& c, int64_t edge) {  // that it starts from
  int64_t low = 0, high = c.size("vertices");
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    (offset_of(c, middle) <= edge ? low : high) = middle;
  }
  return low;
}

double target_of(const Case& c, int64_t edge) {
  const int64_t vertices = c.size("vertices");
  if (vertices == 0) return -1;
  const uint64_t noise = hash(c.seed + 1, uint64_t(edge));
  if (c.is_distributed("path")) return double(node_of(c, edge) + 1);  // the last one: to nowhere
  if (c.is_distributed("grid")) {
    const int64_t v = node_of(c, edge), side = int64_t(std::ceil(std::sqrt(double(vertices))));
    const int64_t column = v % side, k = (edge - offset_of(c, v)) % 4;
    const int64_t to[] = {column + 1 < side ? v + 1 : -1, v + side, column > 0 ? v - 1 : -1,
                          v - side};
    return double(to[k]);  // outside of the square: to nowhere
  }
  if (noise % 64 == 0) return noise % 128 ? -1.0 : double(vertices);
  const double x = unit(hash(c.seed + 2, uint64_t(edge)));
  return std::floor(double(vertices) * (c.is_distributed("power_law") ? std::pow(x, 2.5) : x));
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (tensor == 0) return double(offset_of(c, index));
  if (tensor == 1) return target_of(c, index);
  const uint64_t noise = hash(c.seed + 3, uint64_t(index));
  if (c.specials && noise % 16 < 4) {
    const double specials[] = {NAN, INFINITY, -1, -0.0};
    return specials[noise % 4];
  }
  return is_exact(c) ? std::optional(double(noise % 16)) : std::nullopt;
}

void workload(const Case& c, Workload& w) {
  const double vertices = double(c.size("vertices")), edges = double(c.size("edges"));
  if (c.op == 1) w["weights"].fill = Fill::positive;
  TensorSpec& distances = w["distances"];
  distances.rounding = 0;
  // A sum of weights is rounded once for each edge of a path. No path of these graphs that is
  // nearly the shortest has more, but in a chain of nodes.
  const double most = c.is_distributed("path") ? vertices : 64 + 8 * std::sqrt(vertices);
  distances.arithmetic = is_exact(c) ? 0 : most;
  w.cost = {.read = edges * (c.op == 1 ? 8 : 4) + 4 * vertices, .written = 4 * vertices};
}

std::vector<Case> tests() {
  std::vector<Case> cases;
  uint64_t seed = 0;
  const auto add = [&](int op, std::vector<int64_t> shape, const char* distribution,
                       bool specials = false) {
    ++seed;
    cases.push_back({.op = op,
                     .dtype = Dtype::i32,
                     .shape = std::move(shape),
                     .seed = seed,
                     .misalignment = int(seed % 2),
                     .specials = specials,
                     .parameters = {{"source", 0}},
                     .distribution = distribution});
  };
  for (const int op : {0, 1})
    for (int again = 0; again < 2; ++again) {
      add(op, {1, 0}, "uniform");
      add(op, {1, 3}, "uniform");
      add(op, {33, 32}, "path");
      add(op, {300, 300}, "path");
      add(op, {2, 1000}, "uniform");
      add(op, {1000, 900}, "uniform");  // some nodes have no way
      add(op, {2000, 9000}, "uniform");
      add(op, {3000, 24001}, "power_law");
      add(op, {1024, 4096}, "grid");
      add(op, {700, 2500}, "grid");
    }
  add(1, {500, 4000}, "uniform", true);
  add(1, {500, 4000}, "power_law", true);
  for (Case c : {cases[5], cases[6], cases[17], cases[29]}) {
    c.parameters = {{"source", 17}};
    cases.push_back(c);
  }
  cases.push_back({.op = 0, .dtype = Dtype::i32, .shape = {0, 0}});
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const int op : {0, 1}) {
    for (const char* distribution : {"uniform", "power_law"})
      cases.push_back({.op = op,
                       .dtype = Dtype::i32,
                       .shape = {1 << 20, 1 << 24},
                       .distribution = distribution});
    cases.push_back(
        {.op = op, .dtype = Dtype::i32, .shape = {1 << 20, 1 << 22}, .distribution = "grid"});
  }
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "breadth-first search and shortest paths from one node, in one launch",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::i32, .shape = {1 << 12, 1 << 15}},
          .input = input};
}

}  // namespace ridge::graph_paths
