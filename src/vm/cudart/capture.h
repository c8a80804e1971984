// Stream capture: what is submitted to a capturing stream becomes nodes of a graph instead of
// running.
//
// A stream captures from cudaStreamBeginCapture on, or because it waits for an event recorded in a
// capturing stream (fork). All streams of one capture must have come back (join) to the one it
// began in when that one ends it. A call that cannot be captured invalidates the capture, which
// cudaStreamEndCapture then reports.
#pragma once

#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "vm/cudart/api.h"
#include "vm/cudart/events.h"
#include "vm/cudart/scheduler.h"
#include "vm/cudart/work.h"

namespace ridge::vm::cudart {

struct Graph;
struct GraphNode;

struct Capture {
  std::shared_ptr<Graph> graph;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  StreamRef origin;
  std::vector<StreamRef> streams;  // the origin and the forked ones
  bool invalid = false;
  bool own_graph = true;  // false: cudaStreamBeginCaptureToGraph
  uint64_t id = 0;
};
using CaptureRef = std::shared_ptr<Capture>;

struct StreamCapture {
  CaptureRef capture;
  std::vector<GraphNode*> frontier;  // what the stream's next node depends on
  std::map<const GraphNode*, cudaGraphEdgeData> edges = {};  // those that are not plain, if it can
};

// All of these take the one capture lock.
CaptureRef capture_of(const StreamRef& stream);  // null: not capturing
cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode,
                          std::shared_ptr<Graph> graph = nullptr,
                          std::vector<GraphNode*> dependencies = {});
cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph);
cudaStreamCaptureStatus capture_status(const StreamRef& stream);
std::vector<GraphNode*> capture_frontier(const StreamRef& stream);
std::vector<cudaGraphEdgeData> capture_edges(const StreamRef& stream);  // from the frontier
cudaError_t set_capture_frontier(const StreamRef& stream, std::vector<GraphNode*> nodes,
                                 const cudaGraphEdgeData* kinds, bool replace);
cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode);

cudaError_t capture_work(const CaptureRef& capture, const StreamRef& stream, Work work);
cudaError_t capture_record(const CaptureRef& capture, const StreamRef& stream,
                           const EventRef& event, unsigned flags);
cudaError_t capture_wait(const StreamRef& stream, const EventRef& event, unsigned flags);

// The call cannot be captured: invalidates the stream's capture when there is one.
cudaError_t refuse_in_capture(const StreamRef& stream);
cudaError_t refuse_captured_event(const EventRef& event);
// Calls that might wait for or touch what is being captured (cudaMalloc, cudaDeviceSynchronize, …).
cudaError_t check_unsafe();
cudaError_t check_no_capture_at_all();
// The legacy stream may not be made to depend on a capturing blocking stream.
cudaError_t check_implicit(const StreamRef& stream);  // invalidates the capture
cudaError_t ask_implicit(const StreamRef& stream);    // leaves it alone
void abandon_captures();                              // device reset

}  // namespace ridge::vm::cudart
