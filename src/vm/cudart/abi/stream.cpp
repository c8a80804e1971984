// Streams and what waits for them.
#include "vm/cudart/streams.h"

#include <algorithm>

#include "vm/cudart/capture.h"
#include "vm/cudart/device.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/memory.h"
#include "vm/cudart/refuse.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/trace.h"
#include "vm/cudart/work.h"

using namespace ridge::vm;
using namespace ridge::vm::cudart;

namespace {

cudaError_t create(cudaStream_t* stream, unsigned flags, int priority) {
  if (!stream || (flags & ~unsigned(cudaStreamNonBlocking))) return cudaErrorInvalidValue;
  const StreamKind kind =
      flags & cudaStreamNonBlocking ? StreamKind::non_blocking : StreamKind::blocking;
  *stream = create_stream(kind, flags, std::clamp(priority, kGreatestPriority, kLeastPriority));
  return cudaSuccess;
}

// Waiting for a stream, or asking whether one would have to: not while it captures.
cudaError_t check_waitable(const StreamRef& stream) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = refuse_in_capture(stream)) return error;
  if (const cudaError_t error = check_implicit(stream)) return error;
  return check_unsafe();
}

// A query of a stream's own fields; works while it captures.
template <class T, class Get>
cudaError_t field(cudaStream_t handle, T* out, Get&& get) {
  return api([&] {
    const StreamRef stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!out) return cudaErrorInvalidValue;
    *out = get(*stream);
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return api([&] { return create(stream, cudaStreamDefault, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return api([&] { return create(stream, flags, 0); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return api([&] { return create(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return api([&] { return destroy_stream(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return api([&] {
    const StreamRef stream = find_stream(handle);
    if (const cudaError_t error = check_waitable(stream)) return error;
    runtime().scheduler.wait(stream);
    return synchronised();
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return api([&] {
    const StreamRef stream = find_stream(handle);
    if (const cudaError_t error = check_waitable(stream)) return error;
    return runtime().scheduler.idle(stream) ? synchronised() : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return api([&] { return wait_event(stream, event, flags); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  return api([&] {
    const StreamRef stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!callback || flags) return cudaErrorInvalidValue;
    if (const cudaError_t error = refuse_in_capture(stream)) return error;
    if (const cudaError_t error = check_implicit(stream)) return error;
    runtime().scheduler.submit(stream, [=, &on = *stream] {
      const TraceSpan span(on, reinterpret_cast<const void*>(callback));
      callback(handle, sticky_error(), data);
    });
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return api([&] {
    return function ? enqueue(stream, HostWork{function, data}) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return field(stream, flags, [](const Stream& s) { return s.flags; });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return field(stream, priority, [](const Stream& s) { return s.priority; });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return field(stream, id, [](const Stream& s) { return s.id; });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return field(stream, device, [](const Stream&) { return 0; });
}

// Host and device share memory here, so which stream may touch it needs no work: the arguments are
// checked.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void* pointer, size_t, unsigned flags) {
  return api([&] {
    const StreamRef stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    const auto found = find_allocation(pointer);
    const bool single_default = flags == cudaMemAttachSingle && is_default_stream(handle);
    const bool known =
        flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
    if (!found || !is_managed(*found) || !known || single_default) return cudaErrorInvalidValue;
    return enqueue(stream, EmptyWork{});
  });
}

}  // extern "C"
