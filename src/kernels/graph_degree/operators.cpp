#include "operator/description.h"

namespace ridge::graph_degree {

Operators operators() {
  return {{.name = "graph_degree",
           .formula = "degrees[v] = number of e with nodes[e] = v",
           .dimensions = {{"edges"}, {"vertices"}},
           .tensors = {{.name = "nodes",
                        .shape = "edges",
                        .formats = {Dtype::i32},
                        .layout = Layout::contiguous,
                        .meaning = "one end of each edge of an edge list"},
                       {.name = "degrees",
                        .role = Role::out,
                        .shape = "vertices",
                        .formats = {Dtype::i32},
                        .layout = Layout::contiguous}},
           .distributions = {"uniform", "power_law", "sorted", "star"},
           .notes =
               "Of the first ends: out-degrees; of the second: in-degrees. Nodes outside of 0 … "
               "vertices - 1 are not counted. Distributions of the edges for tests and climbs: "
               "every node alike, few nodes with most of the edges, an edge list in the order "
               "of its nodes, and one node with all edges."}};
}

}  // namespace ridge::graph_degree
