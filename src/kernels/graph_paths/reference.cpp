#include <cmath>
#include <limits>
#include <queue>

#include "kernels/graph_paths/graph_paths.h"
#include "ladder/ladder.h"

namespace ridge::graph_paths {

// Dijkstra's algorithm, with weights of 1 for bfs. Kernels round a path's sum once for each of its
// edges; cases.cpp bounds how many there are. All weights have one sign, so errors are relative to
// the sum itself.
void reference(const Case& c, std::vector<HostTensor>& t) {
  const bool weighted = c.op == 1;
  const auto &offsets = t[0].values, &targets = t[1].values;
  HostTensor& distances = t.back();
  const double unreached = weighted ? std::numeric_limits<double>::infinity() : -1;
  const size_t vertices = distances.values.size();
  distances.values.assign(vertices, unreached);
  std::vector<bool> done(vertices);
  using Entry = std::pair<double, size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  if (vertices > 0) queue.push({0, size_t(c.integer("source"))});
  while (!queue.empty()) {
    const auto [distance, v] = queue.top();
    queue.pop();
    if (done[v]) continue;
    done[v] = true;
    distances.values[v] = distance;
    for (auto e = size_t(offsets[v]); e < size_t(offsets[v + 1]); ++e) {
      const double to = targets[e], weight = weighted ? t[2].values[e] : 1;
      if (to < 0 || to >= double(vertices) || !(weight >= 0) || done[size_t(to)]) continue;
      queue.push({distance + weight, size_t(to)});
    }
  }
}

}  // namespace ridge::graph_paths
