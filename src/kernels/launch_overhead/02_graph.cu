// launch_overhead rung 02, graph: 64 steps are recorded once and launched together.
//
// Since 01_launches: the host hands over 64 steps at a time, and the device knows what comes next.
//   Recording and instantiating the graph cost about as much as launching the 64 steps one by one;
//   every call pays this once.
// Stops at: the device's own time between two kernels, about a microsecond.
// Not for: steps that differ every time: a graph pays off when it is launched often.
#include "kernels/launch_overhead/step.cuh"

namespace ridge::launch_overhead::graph {

constexpr int64_t kSteps = 64;  // a graph

static Status status_of(cudaError_t error) {
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string("making a graph: ") + cudaGetErrorString(error)};
}

static Status capture(const Args& a, cudaStream_t origin, cudaGraph_t* graph) {
  if (const Status s = status_of(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
      !s)
    return s;
  const Status launched = launch_steps(a, kSteps, origin);
  const Status ended = status_of(cudaStreamEndCapture(origin, graph));
  return launched ? ended : launched;
}
static Expected<cudaGraphExec_t> graph_of_steps(const Args& a) {
  cudaStream_t origin = nullptr;
  if (const Status s = status_of(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking)); !s)
    return s.error();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  const Status captured = capture(a, origin, &graph);
  const Status made = captured ? status_of(cudaGraphInstantiate(&exec, graph, 0)) : captured;
  if (graph) (void)cudaGraphDestroy(graph);
  (void)cudaStreamDestroy(origin);
  if (!made) return made.error();
  return exec;
}

static Support supports(const Args& a, const DeviceInfo&) { return counts(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  if (const Status s = status_of(cudaStreamIsCapturing(stream, &capturing)); !s) return s;
  // Part of somebody's graph: its nodes are ours.
  if (a.steps < kSteps || capturing != cudaStreamCaptureStatusNone)
    return launch_steps(a, a.steps, stream);
  const auto exec = graph_of_steps(a);
  if (!exec) return exec.error();
  for (int64_t s = 0; s + kSteps <= a.steps; s += kSteps)
    if (const Status launched = status_of(cudaGraphLaunch(*exec, stream)); !launched)
      return launched;
  (void)cudaGraphExecDestroy(*exec);  // once it has run
  return launch_steps(a, a.steps % kSteps, stream);
}
constinit const Rung rung = {.idea = "64 steps recorded once, launched together",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::launch_overhead::graph
