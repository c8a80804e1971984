#include "kernels/graph_degree/graph_degree.h"
#include "ladder/ladder.h"

namespace ridge::graph_degree {

void reference(const Case&, std::vector<HostTensor>& t) {
  std::vector<double>& degrees = t[1].values;
  degrees.assign(degrees.size(), 0);
  for (const double v : t[0].values)
    if (v >= 0 && v < double(degrees.size())) ++degrees[size_t(v)];
}

}  // namespace ridge::graph_degree
