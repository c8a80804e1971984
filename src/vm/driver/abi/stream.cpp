// Streams and what waits for them.
#include "vm/cudart/streams.h"

#include "vm/cudart/capture.h"
#include "vm/cudart/runtime.h"
#include "vm/driver/contexts.h"

using namespace ridge::vm::driver;
using ridge::vm::cudart::find_stream;
using ridge::vm::cudart::Stream;
using ridge::vm::cudart::StreamRef;

namespace {

CUresult create(CUstream* stream, unsigned flags, int priority) {
  return context_call([&] {
    if (const cudaError_t error = cudaStreamCreateWithPriority(stream, flags, priority))
      return error;
    own(*stream, [handle = *stream, made = std::weak_ptr<Stream>(find_stream(*stream))] {
      const StreamRef same = made.lock();
      if (same && find_stream(handle) == same) (void)ridge::vm::cudart::destroy_stream(handle);
    });
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) { return create(stream, flags, 0); }
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return create(stream, flags, priority);
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return context_call([&] {
    if (const cudaError_t error = cudaStreamDestroy(stream)) return error;
    disown(stream);
    return cudaSuccess;
  });
}
CUresult cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }

CUresult cuStreamSynchronize(CUstream stream) {
  return context_call([&] { return cudaStreamSynchronize(stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return context_call([&] { return cudaStreamQuery(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return context_call([&] { return cudaStreamWaitEvent(stream, event, flags); });
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data,
                             unsigned flags) {
  return context_call([&] {
    const StreamRef stream = find_stream(handle);
    if (!stream) return kInvalidHandle;
    if (!callback || flags) return cudaErrorInvalidValue;
    if (const cudaError_t error = refuse_in_capture(stream)) return error;
    if (const cudaError_t error = check_implicit(stream)) return error;
    ridge::vm::cudart::runtime().scheduler.submit(
        stream, [=] { callback(handle, result_of(ridge::vm::cudart::sticky_error()), data); });
    return cudaSuccess;
  });
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes,
                                unsigned flags) {
  return context_call([&] {
    return cudaStreamAttachMemAsync(stream, reinterpret_cast<void*>(address), bytes, flags);
  });
}

CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return context_call([&] { return cudaStreamGetFlags(stream, flags); });
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return context_call([&] { return cudaStreamGetPriority(stream, priority); });
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return context_call([&] { return cudaStreamGetId(stream, id); });
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return context_call([&] { return cudaStreamGetDevice(stream, device); });
}

// The default streams are those of the context at hand.
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return context_call([&] {
    if (!find_stream(stream)) return kInvalidHandle;
    if (ridge::vm::cudart::is_default_stream(stream)) return answer(context, top_context());
    const ContextRef owner = owner_of(stream);
    return owner ? answer(context, owner->handle()) : kInvalidHandle;
  });
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (!green) return CUDA_ERROR_INVALID_VALUE;
  *green = nullptr;
  return cuStreamGetCtx(stream, context);
}

CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID id, const CUstreamAttrValue* value) {
  static_assert(sizeof(CUstreamAttrValue) == sizeof(cudaStreamAttrValue));
  return context_call([&] {
    return cudaStreamSetAttribute(stream, cudaStreamAttrID(id),
                                  reinterpret_cast<const cudaStreamAttrValue*>(value));
  });
}
CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID id, CUstreamAttrValue* value) {
  return context_call([&] {
    return cudaStreamGetAttribute(stream, cudaStreamAttrID(id),
                                  reinterpret_cast<cudaStreamAttrValue*>(value));
  });
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return context_call([&] { return cudaStreamCopyAttributes(to, from); });
}

}  // extern "C"
