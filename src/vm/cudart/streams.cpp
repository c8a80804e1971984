#include "vm/cudart/streams.h"

#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "vm/cudart/handles.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {

struct StreamAttributes {
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> values;
};

namespace {

std::mutex attributes_mutex;

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
  const StreamRef stream = runtime().scheduler.create(kind, flags, priority);
  try {
    return static_cast<cudaStream_t>(handles().add(stream));
  } catch (const std::bad_alloc&) {
    runtime().scheduler.close(stream);
    throw;
  }
}

cudaError_t destroy_stream(cudaStream_t handle) {
  const StreamRef stream = handles().take(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  runtime().scheduler.close(stream);
  return cudaSuccess;
}

void set_stream_attribute(const StreamRef& stream, cudaLaunchAttributeID id,
                          const cudaLaunchAttributeValue& value) {
  const std::lock_guard lock(attributes_mutex);
  if (!stream->attributes) stream->attributes = std::make_shared<StreamAttributes>();
  stream->attributes->values[id] = value;
}

cudaLaunchAttributeValue stream_attribute(const StreamRef& stream, cudaLaunchAttributeID id) {
  const std::lock_guard lock(attributes_mutex);
  cudaLaunchAttributeValue value{};
  if (id == cudaLaunchAttributePriority) value.priority = stream->priority;
  if (id == cudaLaunchAttributeSynchronizationPolicy) value.syncPolicy = cudaSyncPolicyAuto;
  if (!stream->attributes) return value;
  const auto found = stream->attributes->values.find(id);
  return found == stream->attributes->values.end() ? value : found->second;
}

void copy_stream_attributes(const StreamRef& to, const StreamRef& from) {
  const std::lock_guard lock(attributes_mutex);
  to->attributes =
      from->attributes ? std::make_shared<StreamAttributes>(*from->attributes) : nullptr;
}

void close_all_streams() {
  for (const StreamRef& stream : handles().take_all()) runtime().scheduler.close(stream);
}

}  // namespace ridge::vm::cudart
