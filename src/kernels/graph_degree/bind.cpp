#include <limits>

#include "kernels/graph_degree/graph_degree.h"
#include "ladder/family.h"

namespace ridge::graph_degree {

Status bind(const Call& call, Launch<Args>& launch) {
  const Args args = {.nodes = static_cast<const int32_t*>(call["nodes"].data),
                     .degrees = static_cast<int32_t*>(call["degrees"].data),
                     .edges = call.size("edges"),
                     .vertices = call.size("vertices")};
  if (std::max(args.edges, args.vertices) > std::numeric_limits<int32_t>::max())
    return Error{ops::kInvalid, "graph_degree: more than 2^31 - 1 edges or vertices"};
  return args.vertices == 0 ? Status::ok() : launch(args);
}

}  // namespace ridge::graph_degree
