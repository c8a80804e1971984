#include <limits>

#include "kernels/graph_paths/graph_paths.h"
#include "ladder/family.h"

namespace ridge::graph_paths {

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor* const weights = call.op().tensor("weights") ? call.find("weights") : nullptr;
  const int64_t vertices = call.size("vertices"), source = call.integer("source");
  if (std::max(vertices, call.size("edges")) > std::numeric_limits<int32_t>::max())
    return Error{ops::kInvalid, call.op().name + ": more than 2^31 - 1 vertices or edges"};
  if (vertices > 0 && source >= vertices)
    return Error{ops::kInvalid, call.op().name + ": source is " + std::to_string(source) +
                                    ", but distances has " + std::to_string(vertices) +
                                    " nodes, 0 … " + std::to_string(vertices - 1)};
  if (vertices <= 0) return Status::ok();
  return launch({.offsets = static_cast<const int32_t*>(call["offsets"].data),
                 .targets = static_cast<const int32_t*>(call["targets"].data),
                 .weights = weights ? static_cast<const float*>(weights->data) : nullptr,
                 .distances = static_cast<uint32_t*>(call["distances"].data),
                 .source = int32_t(source),
                 .vertices = vertices,
                 .edges = call.size("edges")});
}

}  // namespace ridge::graph_paths
