#include "vm/cudart/capture.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "vm/cudart/graph/graph.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"

namespace ridge::vm::cudart {
namespace {

struct Captures {
  // Guards every Capture, every Stream::capture, and captured graphs while they grow.
  std::mutex mutex;
  std::vector<CaptureRef> active;
  uint64_t next_id = 1;
};
Captures& all_captures() {
  static auto& instance = *new Captures;
  return instance;
}
using Lock = std::lock_guard<std::mutex>;

thread_local cudaStreamCaptureMode interaction_mode = cudaStreamCaptureModeGlobal;

void add_to_frontier(std::vector<GraphNode*>& frontier, const std::vector<GraphNode*>& nodes) {
  for (GraphNode* node : nodes)
    if (std::ranges::find(frontier, node) == frontier.end()) frontier.push_back(node);
}

// Whether everything the forked streams did comes before the origin's end.
bool joined(const Capture& capture) {
  std::unordered_set<const GraphNode*> before;
  std::vector<GraphNode*> open = capture.origin->capture->frontier;
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (before.insert(node).second)
      open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  for (const StreamRef& stream : capture.streams)
    for (const GraphNode* node : stream->capture->frontier)
      if (!before.contains(node)) return false;
  return true;
}

void finish(const CaptureRef& capture) {
  for (const StreamRef& stream : capture->streams) stream->capture = nullptr;
  capture->streams.clear();
  capture->origin = nullptr;
  std::erase(all_captures().active, capture);
}

cudaError_t invalidate(const CaptureRef& capture, cudaError_t error) {
  capture->invalid = true;
  return error;
}

}  // namespace

CaptureRef capture_of(const StreamRef& stream) {
  const Lock lock(all_captures().mutex);
  return stream->capture ? stream->capture->capture : nullptr;
}

cudaError_t begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode,
                          std::shared_ptr<Graph> graph, std::vector<GraphNode*> dependencies) {
  const StreamRef stream = find_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
    return cudaErrorInvalidValue;
  if (stream->kind == StreamKind::legacy) return cudaErrorStreamCaptureUnsupported;
  const Lock lock(all_captures().mutex);
  if (stream->capture) return cudaErrorIllegalState;  // and the capture goes on
  auto capture = std::make_shared<Capture>();
  capture->own_graph = !graph;
  capture->graph = graph ? std::move(graph) : std::make_shared<Graph>();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream;
  capture->streams = {stream};
  capture->id = all_captures().next_id++;
  stream->capture =
      std::make_shared<StreamCapture>(StreamCapture{capture, std::move(dependencies)});
  all_captures().active.push_back(std::move(capture));
  return cudaSuccess;
}

cudaError_t end_capture(cudaStream_t handle, cudaGraph_t* graph) {
  if (graph) *graph = nullptr;
  const StreamRef stream = find_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  const Lock lock(all_captures().mutex);
  if (!stream->capture) return cudaErrorIllegalState;
  const CaptureRef capture = stream->capture->capture;
  if (capture->origin != stream) return invalidate(capture, cudaErrorStreamCaptureUnmatched);
  const bool wrong_thread = capture->mode != cudaStreamCaptureModeRelaxed &&
                            capture->thread != std::this_thread::get_id();
  const bool complete = joined(*capture);
  finish(capture);
  if (wrong_thread) return cudaErrorStreamCaptureWrongThread;
  if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (!complete) return cudaErrorStreamCaptureUnjoined;
  if (!graph) return cudaSuccess;
  *graph = capture->own_graph ? graph_handle(capture->graph)
                              : reinterpret_cast<cudaGraph_t>(capture->graph.get());
  return cudaSuccess;
}

cudaStreamCaptureStatus capture_status(const StreamRef& stream) {
  const Lock lock(all_captures().mutex);
  if (!stream->capture) return cudaStreamCaptureStatusNone;
  return stream->capture->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                           : cudaStreamCaptureStatusActive;
}

std::vector<GraphNode*> capture_frontier(const StreamRef& stream) {
  const Lock lock(all_captures().mutex);
  return stream->capture ? stream->capture->frontier : std::vector<GraphNode*>{};
}

std::vector<cudaGraphEdgeData> capture_edges(const StreamRef& stream) {
  const Lock lock(all_captures().mutex);
  std::vector<cudaGraphEdgeData> kinds;
  if (!stream->capture) return kinds;
  for (const GraphNode* node : stream->capture->frontier) {
    const auto found = stream->capture->edges.find(node);
    kinds.push_back(found == stream->capture->edges.end() ? cudaGraphEdgeData{} : found->second);
  }
  return kinds;
}

cudaError_t set_capture_frontier(const StreamRef& stream, std::vector<GraphNode*> nodes,
                                 const cudaGraphEdgeData* kinds, bool replace) {
  const Lock lock(all_captures().mutex);
  if (!stream->capture) return cudaErrorIllegalState;
  if (stream->capture->capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (replace) {
    stream->capture->frontier.clear();
    stream->capture->edges.clear();
  }
  add_to_frontier(stream->capture->frontier, nodes);
  for (size_t i = 0; kinds && i < nodes.size(); ++i)
    if (kinds[i].type || kinds[i].from_port) stream->capture->edges[nodes[i]] = kinds[i];
  return cudaSuccess;
}

cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode) {
  return std::exchange(interaction_mode, mode);
}

cudaError_t capture_work(const CaptureRef& capture, const StreamRef& stream, Work work) {
  const Lock lock(all_captures().mutex);
  if (capture->invalid || !stream->capture) return cudaErrorStreamCaptureInvalidated;
  std::vector<GraphNode*>& frontier = stream->capture->frontier;
  EdgeKinds edges = std::exchange(stream->capture->edges, {});
  auto* kernel = std::get_if<KernelWork>(&work);
  const bool early = kernel && std::exchange(kernel->early, false);
  for (const GraphNode* node : frontier)
    if (early && std::holds_alternative<KernelWork>(node->work)) edges[node] = kProgrammaticEdge;
  std::erase_if(edges,
                [&](const auto& edge) { return !is_possible(edge.first, work, edge.second); });
  frontier = {capture->graph->add(std::move(work), frontier, edges)};
  return cudaSuccess;
}

cudaError_t capture_record(const CaptureRef& capture, const StreamRef& stream,
                           const EventRef& event, unsigned flags) {
  if (flags & cudaEventRecordExternal) return capture_work(capture, stream, EventRecordWork{event});
  const Lock lock(all_captures().mutex);
  if (capture->invalid || !stream->capture) return cudaErrorStreamCaptureInvalidated;
  const std::lock_guard event_lock(event->mutex);
  event->captured = true;
  event->capture = capture;
  event->nodes = stream->capture->frontier;
  event->edges = stream->capture->edges;
  return cudaSuccess;
}

cudaError_t capture_wait(const StreamRef& stream, const EventRef& event, unsigned flags) {
  if (const CaptureRef own = capture_of(stream); own && (flags & cudaEventWaitExternal))
    return capture_work(own, stream, EventWaitWork{event});
  const Lock lock(all_captures().mutex);
  const std::lock_guard event_lock(event->mutex);
  const CaptureRef theirs = event->captured ? event->capture.lock() : nullptr;
  if (event->captured && (!theirs || !theirs->origin))
    return cudaErrorInvalidValue;  // that capture has ended
  if (!theirs) return invalidate(stream->capture->capture, cudaErrorStreamCaptureIsolation);
  if (stream->kind == StreamKind::legacy) return invalidate(theirs, cudaErrorStreamCaptureImplicit);
  if (theirs->invalid) return cudaErrorStreamCaptureInvalidated;
  if (!stream->capture) {
    stream->capture = std::make_shared<StreamCapture>(StreamCapture{theirs, {}});
    theirs->streams.push_back(stream);
  } else if (stream->capture->capture != theirs) {
    invalidate(theirs, cudaErrorStreamCaptureMerge);
    return invalidate(stream->capture->capture, cudaErrorStreamCaptureMerge);
  }
  for (const auto& [node, kind] : event->edges)
    if (std::ranges::find(stream->capture->frontier, node) == stream->capture->frontier.end())
      stream->capture->edges[node] = kind;
  add_to_frontier(stream->capture->frontier, event->nodes);
  return cudaSuccess;
}

cudaError_t refuse_in_capture(const StreamRef& stream) {
  const Lock lock(all_captures().mutex);
  return stream->capture ? invalidate(stream->capture->capture, cudaErrorStreamCaptureUnsupported)
                         : cudaSuccess;
}

cudaError_t refuse_captured_event(const EventRef& event) {
  const Lock lock(all_captures().mutex);
  const std::lock_guard event_lock(event->mutex);
  const CaptureRef capture = event->capture.lock();
  if (!capture || !capture->origin) return cudaErrorInvalidValue;
  return invalidate(capture, cudaErrorCapturedEvent);
}

// By the rules of cudaThreadExchangeStreamCaptureMode: a relaxed capture forbids nothing; a
// thread-local one forbids to its own thread; a global one to every thread that has not chosen
// otherwise.
cudaError_t check_unsafe() {
  if (interaction_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  const Lock lock(all_captures().mutex);
  cudaError_t result = cudaSuccess;
  for (const CaptureRef& capture : all_captures().active) {
    const bool own = capture->thread == std::this_thread::get_id();
    const bool forbids = capture->mode == cudaStreamCaptureModeThreadLocal ? own
                         : capture->mode == cudaStreamCaptureModeGlobal
                             ? own || interaction_mode == cudaStreamCaptureModeGlobal
                             : false;
    if (forbids) result = invalidate(capture, cudaErrorStreamCaptureUnsupported);
  }
  return result;
}

cudaError_t check_no_capture_at_all() {
  const Lock lock(all_captures().mutex);
  cudaError_t result = cudaSuccess;
  for (const CaptureRef& capture : all_captures().active)
    result = invalidate(capture, cudaErrorStreamCaptureUnsupported);
  return result;
}

namespace {

std::vector<CaptureRef> implicit_captures(const StreamRef& stream) {  // the lock is held
  std::vector<CaptureRef> found;
  if (stream->kind != StreamKind::legacy) return found;
  for (const CaptureRef& capture : all_captures().active)
    if (std::ranges::any_of(capture->streams,
                            [](const StreamRef& s) { return s->kind == StreamKind::blocking; }))
      found.push_back(capture);
  return found;
}

}  // namespace

cudaError_t check_implicit(const StreamRef& stream) {
  const Lock lock(all_captures().mutex);
  cudaError_t result = cudaSuccess;
  for (const CaptureRef& capture : implicit_captures(stream))
    result = invalidate(capture, cudaErrorStreamCaptureImplicit);
  return result;
}

cudaError_t ask_implicit(const StreamRef& stream) {
  const Lock lock(all_captures().mutex);
  return implicit_captures(stream).empty() ? cudaSuccess : cudaErrorStreamCaptureImplicit;
}

void abandon_captures() {
  const Lock lock(all_captures().mutex);
  while (!all_captures().active.empty()) {
    const CaptureRef capture = all_captures().active.back();
    finish(capture);
  }
}

}  // namespace ridge::vm::cudart
