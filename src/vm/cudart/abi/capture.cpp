// Stream capture.
#include "vm/cudart/capture.h"

#include "vm/cudart/errors.h"
#include "vm/cudart/graph/graph.h"
#include "vm/cudart/streams.h"

using namespace ridge::vm::cudart;

namespace {

cudaError_t nodes_of(const cudaGraphNode_t* handles, size_t count, const Graph* graph,
                     std::vector<GraphNode*>* nodes) {
  if (count && !handles) return cudaErrorInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    GraphNode* node = find_node(handles[i]);
    if (!node || node->graph != graph) return cudaErrorInvalidValue;
    nodes->push_back(node);
  }
  return cudaSuccess;
}

// What cudaStreamGetCaptureInfo points into, until this thread asks again.
thread_local std::vector<cudaGraphNode_t> shown;
thread_local std::vector<cudaGraphEdgeData> shown_edges;

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return api([&] { return begin_capture(stream, mode); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* kinds, size_t count,
                                          cudaStreamCaptureMode mode) {
  return api([&] {
    const GraphRef target = find_graph(graph);
    std::vector<GraphNode*> nodes;
    if (!target) return cudaErrorInvalidValue;
    if (const cudaError_t error = nodes_of(dependencies, count, target.get(), &nodes)) return error;
    if (const cudaError_t error = begin_capture(stream, mode, target, nodes)) return error;
    return kinds ? set_capture_frontier(find_stream(stream), std::move(nodes), kinds, true)
                 : cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return api([&] { return end_capture(stream, graph); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return api([&] {
    const StreamRef stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!status) return cudaErrorInvalidValue;
    if (const cudaError_t error = ask_implicit(stream)) return error;
    *status = capture_status(stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  return api([&] {
    const StreamRef stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!status) return cudaErrorInvalidValue;
    *status = capture_status(stream);
    const CaptureRef capture = capture_of(stream);
    if (!capture) return cudaSuccess;
    shown.clear();
    for (GraphNode* node : capture_frontier(stream)) shown.push_back(node_handle(node));
    if (id) *id = capture->id;
    if (graph) *graph = borrowed_handle(capture->graph);
    if (dependencies) *dependencies = shown.data();
    shown_edges = capture_edges(stream);
    if (edges) *edges = shown_edges.data();
    if (count) *count = shown.size();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* kinds, size_t count,
                                                unsigned flags) {
  return api([&] {
    const StreamRef stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (flags > cudaStreamSetCaptureDependencies) return cudaErrorInvalidValue;
    const CaptureRef capture = capture_of(stream);
    if (!capture) return cudaErrorIllegalState;
    std::vector<GraphNode*> nodes;
    if (const cudaError_t error = nodes_of(dependencies, count, capture->graph.get(), &nodes))
      return error;
    return set_capture_frontier(stream, std::move(nodes), kinds,
                                flags == cudaStreamSetCaptureDependencies);
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return api([&] {
    if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
      return cudaErrorInvalidValue;
    *mode = exchange_capture_mode(*mode);
    return cudaSuccess;
  });
}

}  // extern "C"
