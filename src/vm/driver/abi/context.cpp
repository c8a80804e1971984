// Contexts, the primary one included.
#include "vm/driver/contexts.h"

#include "vm/cudart/runtime.h"

using namespace ridge::vm::driver;

namespace {

CUresult create(CUcontext* handle, unsigned flags, CUdevice device) {
  return driver_call([&] {
    if (!handle) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    ContextRef made;
    if (const cudaError_t error = create_context(flags, &made)) return error;
    *handle = made->handle();
    return cudaSuccess;
  });
}

template <class Body>
CUresult with_current(Body&& body) {
  return driver_call([&] {
    ContextRef context;
    if (const cudaError_t error = current_context(&context)) return error;
    return body(*context);
  });
}

// A named context, or the current one for null.
template <class Body>
CUresult with_context(CUcontext handle, Body&& body) {
  return driver_call([&] {
    ContextRef context = find_context(handle);
    if (!handle)
      if (const cudaError_t error = current_context(&context)) return error;
    return context ? body(*context) : kInvalidContext;
  });
}

CUresult primary(CUdevice device, cudaError_t (*body)()) {
  return driver_call([&] { return device == 0 ? body() : cudaErrorInvalidDevice; });
}

constexpr unsigned kApiVersion = 3020;  // of every context since CUDA 3.2

}  // namespace

extern "C" {

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return create(context, flags, device);
}
CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return create(context, flags, device);
}
CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* affinities, int count,
                        unsigned flags, CUdevice device) {
  if (count && !affinities) return CUDA_ERROR_INVALID_VALUE;
  if (count) return result_of(refuse_call("cuCtxCreate with an execution affinity", "contexts"));
  return create(context, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* params, unsigned flags,
                        CUdevice device) {
  if (params && params->cigParams)
    return result_of(refuse_call("cuCtxCreate for graphics (cigParams)", "contexts"));
  if (!params) return create(context, flags, device);
  return cuCtxCreate_v3(context, params->execAffinityParams, params->numExecAffinityParams, flags,
                        device);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  return driver_call([&] { return destroy_context(context); });
}
CUresult cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return driver_call([&] { return push_context(context); });
}
CUresult cuCtxPushCurrent(CUcontext context) { return cuCtxPushCurrent_v2(context); }

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return driver_call([&] { return pop_context(context); });
}
CUresult cuCtxPopCurrent(CUcontext* context) { return cuCtxPopCurrent_v2(context); }

CUresult cuCtxSetCurrent(CUcontext context) {
  return driver_call([&] { return set_context(context); });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return driver_call([&] { return answer(context, top_context()); });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return with_current([&](Context&) { return answer(device, 0); });
}
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return with_context(context, [&](Context&) { return answer(device, 0); });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return with_current([&](Context& c) { return answer(flags, c.flags | CU_CTX_MAP_HOST); });
}
CUresult cuCtxSetFlags(unsigned flags) {  // hints: how a host thread waits
  return with_current([&](Context& c) {
    if (const cudaError_t error = check_context_flags(flags)) return error;
    c.flags = flags & ~unsigned(CU_CTX_MAP_HOST);
    return cudaSuccess;
  });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return with_context(context, [&](Context& c) { return answer<unsigned long long>(id, c.id); });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  return with_context(context, [&](Context&) { return answer(version, kApiVersion); });
}

CUresult cuCtxSynchronize() {
  return context_call([] { return cudaDeviceSynchronize(); });
}
CUresult cuCtxSynchronize_v2(CUcontext context) {  // contexts share the device
  return with_context(context, [](Context&) { return cudaDeviceSynchronize(); });
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return context_call([&] { return cudaDeviceGetLimit(value, cudaLimit(limit)); });
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return context_call([&] { return cudaDeviceSetLimit(cudaLimit(limit), value); });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return context_call(
      [&] { return cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(config)); });
}
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return context_call([&] { return cudaDeviceSetCacheConfig(cudaFuncCache(config)); });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return context_call(
      [&] { return cudaDeviceGetSharedMemConfig(reinterpret_cast<cudaSharedMemConfig*>(config)); });
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return context_call([&] { return cudaDeviceSetSharedMemConfig(cudaSharedMemConfig(config)); });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return context_call([&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}

CUresult cuCtxResetPersistingL2Cache() {
  return context_call([] { return cudaCtxResetPersistingL2Cache(); });
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam*, CUexecAffinityType) {
  return result_of(refuse_call("cuCtxGetExecAffinity", "contexts"));
}

// There is one device, and none is its own peer.
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return context_call([&] {
    if (flags) return cudaErrorInvalidValue;
    return find_context(peer) ? cudaErrorPeerAccessUnsupported : kInvalidContext;
  });
}
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return context_call(
      [&] { return find_context(peer) ? cudaErrorPeerAccessNotEnabled : kInvalidContext; });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return driver_call([&] {
    if (device != 0) return cudaErrorInvalidDevice;
    if (!context) return cudaErrorInvalidValue;
    retain_primary();
    *context = primary_context()->handle();
    return cudaSuccess;
  });
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return primary(device, release_primary); }
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return primary(device, [] { return reset_primary(), cudaSuccess; });
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return driver_call([&] {
    if (device != 0) return cudaErrorInvalidDevice;
    if (const cudaError_t error = check_context_flags(flags)) return error;
    primary_context()->flags = flags & ~unsigned(CU_CTX_MAP_HOST);
    return cudaSuccess;
  });
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return driver_call([&] {
    if (device != 0) return cudaErrorInvalidDevice;
    if (const cudaError_t error = answer(flags, primary_context()->flags)) return error;
    return answer(active, int(primary_is_active()));
  });
}

}  // extern "C"
