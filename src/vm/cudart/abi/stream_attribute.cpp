// Attributes of streams: all of them hints here, kept and given back.
#include "vm/cudart/errors.h"
#include "vm/cudart/streams.h"

using namespace ridge::vm::cudart;

namespace {

bool is_stream_attribute(cudaLaunchAttributeID id) {
  return id == cudaLaunchAttributeAccessPolicyWindow ||
         id == cudaLaunchAttributeSynchronizationPolicy || id == cudaLaunchAttributePriority ||
         id == cudaLaunchAttributeMemSyncDomainMap || id == cudaLaunchAttributeMemSyncDomain;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                   const cudaLaunchAttributeValue* value) {
  return api([&] {
    const StreamRef stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!value || !is_stream_attribute(id)) return cudaErrorInvalidValue;
    set_stream_attribute(stream, id, *value);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                   cudaLaunchAttributeValue* value) {
  return api([&] {
    const StreamRef stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!value || !is_stream_attribute(id)) return cudaErrorInvalidValue;
    *value = stream_attribute(stream, id);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return api([&] {
    const StreamRef target = find_stream(to), source = find_stream(from);
    if (!target || !source) return cudaErrorInvalidResourceHandle;
    copy_stream_attributes(target, source);
    return cudaSuccess;
  });
}

}  // extern "C"
