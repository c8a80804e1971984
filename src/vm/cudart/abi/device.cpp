// The device: count, choice, properties, limits, synchronisation, reset.
#include "vm/cudart/device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "vm/cudart/capture.h"
#include "vm/cudart/config.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/events.h"
#include "vm/cudart/limits.h"
#include "vm/cudart/reset.h"
#include "vm/cudart/runtime.h"

using namespace ridge::vm::cudart;

namespace {

constexpr int kVersion = CUDART_VERSION / 1000 * 1000;  // the runtime this library stands in for

cudaError_t check_device(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

template <class T>
cudaError_t answer(T* out, T value) {  // queries work on a dead device, too
  if (!out) return remember(cudaErrorInvalidValue);
  *out = value;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) { return answer(count, 1); }
cudaError_t cudaGetDevice(int* device) { return answer(device, 0); }
cudaError_t cudaDriverGetVersion(int* version) { return answer(version, kVersion); }
cudaError_t cudaRuntimeGetVersion(int* version) { return answer(version, kVersion); }

cudaError_t cudaSetDevice(int device) { return remember(check_device(device)); }

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return remember(check_device(device));
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  if (count < 0 || (count && !devices)) return remember(cudaErrorInvalidValue);
  for (int i = 0; i < count; ++i)
    if (devices[i] != 0) return remember(cudaErrorInvalidDevice);
  return cudaSuccess;
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return wanted ? answer(device, 0) : remember(cudaErrorInvalidValue);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!properties) return remember(cudaErrorInvalidValue);
  if (check_device(device)) return remember(cudaErrorInvalidDevice);
  *properties = device_properties(config().gpu);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const auto found = device_attribute(config().gpu, attribute);
  if (!value || !found) return remember(cudaErrorInvalidValue);
  if (check_device(device)) return remember(cudaErrorInvalidDevice);
  *value = *found;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return answer(flags, device_hints().schedule_flags | cudaDeviceMapHost);
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  const bool one_policy = (schedule & (schedule - 1)) == 0;
  if ((flags & ~unsigned(cudaDeviceMask)) || !one_policy) return remember(cudaErrorInvalidValue);
  // How a host thread waits changes nothing it sees.
  device_hints().schedule_flags = flags & ~unsigned(cudaDeviceMapHost);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!text || length <= int(std::strlen(kPciBusId))) return remember(cudaErrorInvalidValue);
  if (check_device(device)) return remember(cudaErrorInvalidDevice);
  std::snprintf(text, size_t(length), "%s", kPciBusId);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  if (!text) return remember(cudaErrorInvalidValue);
  return std::strcmp(text, kPciBusId) == 0 ? answer(device, 0) : remember(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api([&] {
    if (least) *least = kLeastPriority;
    if (greatest) *greatest = kGreatestPriority;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return api([&] { return value ? get_limit(limit, value) : cudaErrorInvalidValue; });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return api([&] { return set_limit(limit, value); });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* value) {
  return api([&] {
    return value ? (*value = device_hints().cache_config, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache value) {
  return api([&] {
    if (value < cudaFuncCachePreferNone || value > cudaFuncCachePreferEqual)
      return cudaErrorInvalidValue;
    device_hints().cache_config = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* value) {
  return api([&] {
    return value ? (*value = cudaSharedMemBankSizeFourByte, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig value) {
  return api([&] {  // banks are 4 bytes wide on every device since Maxwell: accepted, and without
                    // effect there too
    return value < cudaSharedMemBankSizeDefault || value > cudaSharedMemBankSizeEightByte
               ? cudaErrorInvalidValue
               : cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return api([] {
    if (const cudaError_t error = check_no_capture_at_all()) return error;
    runtime().scheduler.wait_all();
    return synchronised();
  });
}

cudaError_t cudaDeviceReset() {
  reset_device();
  return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return api([] { return cudaSuccess; });  // no lines persist in a cache that is not there
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (device != 0 || peer != 0) return remember(cudaErrorInvalidDevice);
  return answer(can, 0);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return remember(peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return remember(peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return remember(cudaErrorInvalidDevice);  // there is one device, and none is its own peer
}

// Atomics over the link to the host: none that the link does by itself, as the attribute
// cudaDevAttrHostNativeAtomicSupported says.
cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned* capabilities,
                                                const cudaAtomicOperation* operations,
                                                unsigned count, int device) {
  if (!capabilities || !operations || !count) return remember(cudaErrorInvalidValue);
  if (check_device(device)) return remember(cudaErrorInvalidDevice);
  for (unsigned i = 0; i < count; ++i)
    if (operations[i] > cudaAtomicOperationFloatMax) return remember(cudaErrorInvalidValue);
  std::fill_n(capabilities, count, 0u);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned*, const cudaAtomicOperation*, unsigned, int,
                                               int) {
  return remember(cudaErrorInvalidDevice);  // as cudaDeviceGetP2PAttribute
}

cudaError_t cudaProfilerStart() {
  return api([] { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return api([] { return cudaSuccess; });
}

}  // extern "C"
