#include "vm/cudart/events.h"

#include <optional>
#include <utility>

#include "vm/cudart/asked.h"
#include "vm/cudart/capture.h"
#include "vm/cudart/graph/graph.h"
#include "vm/cudart/handles.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"

namespace ridge::vm::cudart {
namespace {

constexpr unsigned kCreateFlags =
    cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

Handles<Event>& handles() {
  static auto& all = *new Handles<Event>;
  return all;
}

// The event's ticket, for calls that need a real one: a captured event has none, and asking ends
// its capture.
cudaError_t real_ticket(cudaEvent_t handle, Ticket* ticket) {
  const EventRef event = find_event(handle);
  if (!event) return cudaErrorInvalidResourceHandle;
  if (event->is_captured()) return refuse_captured_event(event);
  if (const cudaError_t error = check_unsafe()) return error;
  *ticket = event->ticket();
  return cudaSuccess;
}

// By the clock of an observer, if one keeps time.
std::optional<double> modelled_us(const Ticket& from, const Ticket& to) {
  Observer* const watching = observer();
  if (!watching || !watching->keeps_time() || !from->order || !to->order) return std::nullopt;
  runtime().scheduler.settle();  // it has to know what else ran at that time
  return watching->elapsed_us({from->order, from->node}, {to->order, to->node});
}

}  // namespace

void Event::set(Ticket ticket) {
  const std::lock_guard lock(mutex);
  recorded = std::move(ticket);
  captured = false;
  nodes.clear();
  edges.clear();
  kernel = nullptr;
}

Ticket Event::ticket() {
  const std::lock_guard lock(mutex);
  return recorded;
}

Ticket Event::kernel_ticket() {
  const std::lock_guard lock(mutex);
  return kernel;
}

bool Event::is_captured() {
  const std::lock_guard lock(mutex);
  return captured;
}

EventRef find_event(cudaEvent_t handle) { return handles().find(handle); }

cudaError_t create_event(cudaEvent_t* handle, unsigned flags) {
  const bool shared = flags & cudaEventInterprocess;
  if (!handle || (flags & ~kCreateFlags) || (shared && !(flags & cudaEventDisableTiming)))
    return cudaErrorInvalidValue;
  auto event = std::make_shared<Event>();
  event->flags = flags;
  *handle = static_cast<cudaEvent_t>(handles().add(std::move(event)));
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t handle) {
  return handles().take(handle) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

void destroy_all_events() { handles().take_all(); }

cudaError_t record_event(cudaEvent_t handle, cudaStream_t stream_handle, unsigned flags) {
  const EventRef event = find_event(handle);
  const StreamRef stream = find_stream(stream_handle);
  if (!event || !stream) return cudaErrorInvalidResourceHandle;
  if (flags & ~unsigned(cudaEventRecordExternal)) return cudaErrorInvalidValue;
  if (const auto capture = capture_of(stream)) return capture_record(capture, stream, event, flags);
  if (flags)
    return cudaErrorIllegalState;  // an external record only means something inside a capture
  if (const cudaError_t error = check_implicit(stream)) return error;
  const Ticket ticket = runtime().scheduler.submit(stream, nullptr);
  tell_asked(ticket->order, Observer::Asked::Kind::event);
  event->set(ticket);
  return cudaSuccess;
}

cudaError_t record_launch_event(cudaEvent_t handle, cudaStream_t stream_handle, unsigned flags,
                                bool programmatic) {
  const EventRef event = find_event(handle);
  const StreamRef stream = find_stream(stream_handle);
  const Ticket kernel = stream ? runtime().scheduler.last(stream) : nullptr;
  if (const cudaError_t error = record_event(handle, stream_handle, flags)) return error;
  const std::lock_guard lock(event->mutex);
  if (event->captured)
    for (const GraphNode* node : event->nodes)
      event->edges[node] = programmatic ? kProgrammaticEdge : kLaunchCompletionEdge;
  else if (programmatic) event->kernel = kernel;
  return cudaSuccess;
}

cudaError_t wait_event(cudaStream_t stream_handle, cudaEvent_t handle, unsigned flags) {
  const EventRef event = find_event(handle);
  const StreamRef stream = find_stream(stream_handle);
  if (!event || !stream) return cudaErrorInvalidResourceHandle;
  if (flags & ~unsigned(cudaEventWaitExternal)) return cudaErrorInvalidValue;
  if (capture_of(stream) || event->is_captured()) return capture_wait(stream, event, flags);
  if (flags) return cudaErrorIllegalState;
  if (const cudaError_t error = check_implicit(stream)) return error;
  // Those who watch ask for the order, not only for the moment.
  const Ticket ticket = event->ticket(), kernel = event->kernel_ticket();
  if (!observer() && runtime().scheduler.done(ticket)) return cudaSuccess;
  if (kernel) runtime().scheduler.wait_for_release(stream, kernel);
  else
    tell_asked(runtime().scheduler.submit(stream, nullptr, {ticket})->order,
               Observer::Asked::Kind::nothing);
  return cudaSuccess;
}

cudaError_t query_event(cudaEvent_t handle) {
  Ticket ticket;
  if (const cudaError_t error = real_ticket(handle, &ticket)) return error;
  if (!runtime().scheduler.done(ticket)) return cudaErrorNotReady;
  runtime().scheduler.wait(ticket);
  return synchronised();
}

cudaError_t synchronise_event(cudaEvent_t handle) {
  Ticket ticket;
  if (const cudaError_t error = real_ticket(handle, &ticket)) return error;
  runtime().scheduler.wait(ticket);
  return synchronised();
}

cudaError_t elapsed_time(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!milliseconds) return cudaErrorInvalidValue;
  Ticket tickets[2];
  for (int i = 0; i < 2; ++i) {
    const EventRef event = find_event(i ? end : start);
    if (!event || (event->flags & cudaEventDisableTiming)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = real_ticket(i ? end : start, &tickets[i])) return error;
    if (!tickets[i]) return cudaErrorInvalidResourceHandle;  // never recorded
  }
  Scheduler& scheduler = runtime().scheduler;
  if (!scheduler.done(tickets[0]) || !scheduler.done(tickets[1])) return cudaErrorNotReady;
  if (const auto us = modelled_us(tickets[0], tickets[1])) {
    *milliseconds = float(*us * 1e-3);
    return cudaSuccess;
  }
  const auto passed = scheduler.time(tickets[1]) - scheduler.time(tickets[0]);
  *milliseconds = std::chrono::duration<float, std::milli>(passed).count();
  return cudaSuccess;
}

}  // namespace ridge::vm::cudart
