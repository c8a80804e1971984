// vector_add_streamed rung 05, graph: the same pipeline, handed over as one graph.
//
// Since 04_n_streams: 128 copies and launches become one launch. This saves the time that the host
//   takes for each of them, and the gaps while it falls behind; it costs the making of the graph. A
//   program that runs the pipeline often makes the graph once and keeps it. A rung keeps nothing,
//   so here every call pays.
// Stops at: the link; below some millions of elements, at the making of the graph.
// Not for: a pipeline that runs once: making the graph takes longer than it saves.
#include "kernels/vector_add_streamed/pipeline.cuh"

namespace ridge::vector_add_streamed::graph {

constexpr int kStreams = 4;
constexpr int kChunks = 32;

static Support supports(const Args& a, const DeviceInfo&) { return adds(a); }

// The streams of the pipeline must live until the capture ends.
static Status capture(const Args& a, SideStreams<kStreams>& side, cudaStream_t origin,
                      cudaGraph_t* graph) {
  if (const Status s = status_of(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
      !s)
    return s;
  const Status enqueued = enqueue_chunks<kStreams, kChunks>(a, side, origin);
  const Status ended = status_of(cudaStreamEndCapture(origin, graph));
  return enqueued ? ended : enqueued;
}
static Expected<cudaGraphExec_t> pipeline_graph(const Args& a) {
  SideStreams<kStreams> side;
  SideStreams<1> origin;
  if (const Status s = side.make(); !s) return s.error();
  if (const Status s = origin.make(); !s) return s.error();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  const Status captured = capture(a, side, origin[0], &graph);
  const Status made = captured ? status_of(cudaGraphInstantiate(&exec, graph, 0)) : captured;
  if (graph) (void)cudaGraphDestroy(graph);
  if (!made) return made.error();
  return exec;
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  const auto capturing = is_capturing(stream);
  if (!capturing) return capturing.error();
  if (*capturing) return enqueue_serially<kChunks>(a, stream);
  const auto exec = pipeline_graph(a);
  if (!exec) return exec.error();
  const Status s = status_of(cudaGraphLaunch(*exec, stream));
  (void)cudaGraphExecDestroy(*exec);  // the driver frees it once it has run
  return s;
}
constinit const Rung rung = {.idea = "the whole pipeline as one graph",
                             .supports = supports,
                             .launch = launch,
                             .workspace = pipeline_workspace<kStreams, kChunks>,
                             .claims = kAddClaims};

}  // namespace ridge::vector_add_streamed::graph
