// Kernels: their attributes, and how many of their blocks fit on a multiprocessor.
#include "vm/cudart/function.h"

#include <algorithm>

#include "core/occupancy.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/refuse.h"
#include "vm/cudart/runtime.h"

using namespace ridge;
using namespace ridge::vm;
using namespace ridge::vm::cudart;

namespace {

cudaError_t set_attribute(KernelHandle& function, const KernelUsage& usage,
                          cudaFuncAttribute attribute, int value) {
  const int optin = runtime().gpu().shared_per_block_optin;
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || value > optin - int(usage.static_shared)) return cudaErrorInvalidValue;
      function.max_dynamic_shared = value;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      function.shared_carveout = value;  // a hint
      return cudaSuccess;
    case cudaFuncAttributeClusterDimMustBeSet:
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return cudaError_t(refuse("a cluster attribute of cudaFuncSetAttribute", "clusters"));
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t set_attribute(const void* pointer, cudaFuncAttribute attribute, int value) {
  ResolvedFunction f;
  if (const cudaError_t error = resolve_function(pointer, &f)) return error;
  return set_attribute(*f.function, f.usage, attribute, value);
}

cudaError_t max_blocks(int* blocks, const void* function, int threads, size_t shared,
                       unsigned flags) {
  if (!blocks || threads <= 0 || (flags & ~unsigned(cudaOccupancyDisableCachingOverride)))
    return cudaErrorInvalidValue;
  ResolvedFunction f;
  if (const cudaError_t error = resolve_function(function, &f)) return error;
  const bool launchable =
      threads <= kMaxThreadsPerBlock && shared <= size_t(dynamic_shared_limit(f));
  *blocks = launchable ? blocks_per_sm(f, threads, shared) : 0;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return api([&] {
    if (!attributes) return cudaErrorInvalidValue;
    ResolvedFunction f;
    if (const cudaError_t error = resolve_function(function, &f)) return error;
    *attributes = {};
    attributes->sharedSizeBytes = f.usage.static_shared;
    attributes->constSizeBytes = f.usage.constant_bytes;
    attributes->localSizeBytes = f.usage.local_bytes;
    attributes->maxThreadsPerBlock = max_threads(f);
    attributes->numRegs = int(f.usage.registers);
    attributes->ptxVersion = runtime().engine.info(f.kernel).ptx_version;
    attributes->binaryVersion = runtime().gpu().major * 10 + runtime().gpu().minor;
    attributes->maxDynamicSharedSizeBytes = dynamic_shared_limit(f);
    attributes->preferredShmemCarveout = f.function->shared_carveout;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return api([&] { return set_attribute(function, attribute, value); });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int device) {
  return api(
      [&] { return device ? cudaErrorInvalidDevice : set_attribute(kernel, attribute, value); });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return api([&] {  // a hint
    ResolvedFunction f;
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
      return cudaErrorInvalidValue;
    return resolve_function(function, &f);
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig config) {
  return api([&] {  // without effect on every device since Maxwell
    ResolvedFunction f;
    if (config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte)
      return cudaErrorInvalidValue;
    return resolve_function(function, &f);
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* pointer) {
  return api([&] {
    const KernelHandle* function = registrations().find_function(pointer);
    if (!name) return cudaErrorInvalidValue;
    if (!pointer) return cudaErrorInvalidDeviceFunction;
    if (!function) return cudaErrorInvalidResourceHandle;
    *name = function->name.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* size) {
  return api([&] {
    ResolvedFunction f;
    if (const cudaError_t error = resolve_function(function, &f)) return error;
    const auto& params = runtime().engine.info(f.kernel).params;
    if (!offset || index >= params.size()) return cudaErrorInvalidValue;
    *offset = params[index].offset;
    if (size) *size = params[index].size;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, size_t shared) {
  return api([&] { return max_blocks(blocks, function, threads, shared, cudaOccupancyDefault); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* function,
                                                                   int threads, size_t shared,
                                                                   unsigned flags) {
  return api([&] { return max_blocks(blocks, function, threads, shared, flags); });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int threads) {
  return api([&] {
    if (!bytes || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    ResolvedFunction f;
    if (const cudaError_t error = resolve_function(function, &f)) return error;
    if (blocks_per_sm(f, threads, 0) < blocks) return cudaErrorInvalidValue;
    *bytes = std::min(shared_per_block(f, blocks), size_t(dynamic_shared_limit(f)));
    return cudaSuccess;
  });
}

}  // extern "C"
