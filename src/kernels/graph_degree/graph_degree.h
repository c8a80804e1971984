// How many edges of a graph each node has: degrees[v] = number of e with nodes[e] = v.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::graph_degree {

struct Args {
  const int32_t* nodes = nullptr;  // (edges)
  int32_t* degrees = nullptr;      // (vertices)
  int64_t edges = 0, vertices = 0;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

inline double bytes(const Args& a) { return 4 * double(a.edges) + 4 * double(a.vertices); }

}  // namespace ridge::graph_degree
