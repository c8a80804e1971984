#include "vm/cudart/streams.h"

#include <utility>

#include "vm/cudart/handles.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {
namespace {

thread_local bool null_is_per_thread = false;

Handles<Stream>& handles() {
  static auto& all = *new Handles<Stream>;
  return all;
}

// A thread's default stream, closed when the thread ends.
struct ThreadStream {
  StreamRef stream;
  ~ThreadStream() {
    if (stream) runtime().scheduler.close(stream);
  }
};
thread_local ThreadStream own;

const StreamRef& per_thread_stream() {
  if (!own.stream) own.stream = runtime().scheduler.create(StreamKind::blocking, 0, 0);
  return own.stream;
}

}  // namespace

PerThreadDefault::PerThreadDefault() : before_(std::exchange(null_is_per_thread, true)) {}
PerThreadDefault::~PerThreadDefault() { null_is_per_thread = before_; }

bool is_default_stream(cudaStream_t handle) {
  return !handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread;
}

StreamRef find_stream(cudaStream_t handle) {
  if (handle == cudaStreamPerThread || (!handle && null_is_per_thread)) return per_thread_stream();
  if (handle == cudaStreamLegacy || !handle) return runtime().scheduler.legacy();
  return handles().find(handle);
}

cudaStream_t create_stream(StreamKind kind, uint32_t flags, int priority) {
  return static_cast<cudaStream_t>(handles().add(runtime().scheduler.create(kind, flags, priority)));
}

cudaError_t destroy_stream(cudaStream_t handle) {
  const StreamRef stream = handles().take(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  runtime().scheduler.close(stream);
  return cudaSuccess;
}

void close_all_streams() {
  for (const StreamRef& stream : handles().take_all()) runtime().scheduler.close(stream);
}

}  // namespace ridge::vm::cudart
