// Events: a marker recorded into a stream, which others wait for or measure between.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vm/cudart/api.h"
#include "vm/cudart/scheduler.h"

namespace ridge::vm::cudart {

struct Capture;
struct GraphNode;

struct Event {
  uint32_t flags = 0;
  std::mutex mutex;  // guards what follows
  Ticket recorded;   // of the newest record; null before the first
  // Recorded into a capturing stream: the nodes it stands for. It is no real event until recorded
  // anew.
  bool captured = false;
  std::weak_ptr<Capture> capture;
  std::vector<GraphNode*> nodes;
  std::map<const GraphNode*, cudaGraphEdgeData> edges;  // to whatever waits for it
  // Of a programmatic event: the kernel that it stands for. Kernels that wait for the event begin
  // when that one lets them; all else waits for its end.
  Ticket kernel;

  void set(Ticket ticket);  // a real record
  Ticket ticket();
  Ticket kernel_ticket();
  bool is_captured();
};
using EventRef = std::shared_ptr<Event>;

EventRef find_event(cudaEvent_t handle);  // null: no such event
cudaError_t create_event(cudaEvent_t* handle, unsigned flags);
cudaError_t destroy_event(cudaEvent_t handle);
void destroy_all_events();  // device reset

cudaError_t record_event(cudaEvent_t handle, cudaStream_t stream, unsigned flags);
// The same, directly behind a kernel, by an attribute of its launch.
cudaError_t record_launch_event(cudaEvent_t handle, cudaStream_t stream, unsigned flags,
                                bool programmatic);
cudaError_t wait_event(cudaStream_t stream, cudaEvent_t handle, unsigned flags);
cudaError_t query_event(cudaEvent_t handle);
cudaError_t synchronise_event(cudaEvent_t handle);
cudaError_t elapsed_time(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

}  // namespace ridge::vm::cudart
