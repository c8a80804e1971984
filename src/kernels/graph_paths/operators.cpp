#include "operator/description.h"

namespace ridge::graph_paths {

// bfs, then sssp.
Operators operators() {
  const auto paths = [](bool weighted) {
    OperatorDef op = {
        .name = weighted ? "sssp" : "bfs",
        .formula = weighted ? "distances[v] = least sum of weights on a path from source to v"
                            : "distances[v] = least number of edges on a path from source to v",
        .dimensions = {{"vertices"}, {"edges"}},
        .tensors = {{.name = "offsets",
                     .shape = "vertices+1",
                     .formats = {Dtype::i32},
                     .layout = Layout::contiguous,
                     .meaning = "where the edges of each node begin; rising, the last one is the "
                                "number of edges"},
                    {.name = "targets",
                     .shape = "edges",
                     .formats = {Dtype::i32},
                     .layout = Layout::contiguous,
                     .meaning = "the node that each edge leads to"}},
        .parameters = {{.name = "source",
                        .type = ParameterType::integer,
                        .otherwise = 0,
                        .least = 0,
                        .meaning = "the node that paths start from"}},
        .distributions = {"uniform", "power_law", "grid", "path"},
        .notes =
            "Compressed rows (CSR): edges lead one way. A target outside of 0 … vertices - 1 is "
            "no edge. Distributions of the edges for tests and climbs: every node alike; few "
            "nodes with most of the edges; neighbours in a square; node v leads to v + 1."};
    if (weighted) {
      op.tensors.push_back({.name = "weights",
                            .shape = "edges",
                            .formats = {Dtype::f32},
                            .layout = Layout::contiguous,
                            .meaning = "an edge with a negative weight, or NaN, is no edge"});
      op.notes +=
          " Where there is no path: infinity. Sums are rounded to f32 edge by edge, and the "
          "least of them is the same in every run.";
    } else {
      op.notes += " Where there is no path: -1.";
    }
    op.tensors.push_back({.name = "distances",
                          .role = Role::out,
                          .shape = "vertices",
                          .formats = {weighted ? Dtype::f32 : Dtype::i32},
                          .layout = Layout::contiguous});
    return op;
  };
  return {paths(false), paths(true)};
}

}  // namespace ridge::graph_paths
