// Kernels: their attributes, and how many of their blocks fit on a multiprocessor.
#include "vm/cudart/function.h"

#include <algorithm>

#include "core/occupancy.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/launch_attributes.h"
#include "vm/cudart/runtime.h"

using namespace ridge;
using namespace ridge::vm;
using namespace ridge::vm::cudart;

namespace {

cudaError_t set_attribute(const ResolvedFunction& f, cudaFuncAttribute attribute, int value) {
  const int optin = runtime().gpu().shared_per_block_optin;
  KernelHandle& function = *f.function;
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || value > optin - int(f.usage.static_shared)) return cudaErrorInvalidValue;
      function.max_dynamic_shared = value;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      function.shared_carveout = value;  // a hint
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      function.large_clusters = value != 0;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      if (value < 0 || value > cudaClusterSchedulingPolicyLoadBalancing)
        return cudaErrorInvalidValue;
      function.cluster_policy = value;  // a hint
      return cudaSuccess;
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
      // Whether the three together make sense is asked when the kernel is launched.
      if (runtime().engine.info(f.kernel).required_cluster[0]) return cudaErrorNotPermitted;
      if (value < 0) return cudaErrorInvalidValue;
      function.required_cluster[size_t(attribute - cudaFuncAttributeRequiredClusterWidth)] = value;
      return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t set_attribute(const void* pointer, cudaFuncAttribute attribute, int value) {
  ResolvedFunction f;
  if (const cudaError_t error = resolve_function(pointer, &f)) return error;
  return set_attribute(f, attribute, value);
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

// The cluster of a configuration, and how many threads of it fit where.
cudaError_t max_clusters(int* clusters, const void* function, const cudaLaunchConfig_t* config) {
  if (!clusters || !config || (config->numAttrs && !config->attrs)) return cudaErrorInvalidValue;
  ResolvedFunction f;
  if (const cudaError_t error = resolve_function(function, &f)) return error;
  LaunchRequest request;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (const cudaError_t error = apply(config->attrs[i], request)) return error;
  const ClusterShape cluster = cluster_shape(f, request.cluster, config->gridDim);
  if (cluster.error) return cluster.error;
  int blocks = 0;
  const int size = cluster.size.x ? int(cluster.size.x * cluster.size.y * cluster.size.z) : 1;
  const dim3& b = config->blockDim;
  if (const cudaError_t error = max_blocks(&blocks, function, int(b.x * b.y * b.z),
                                           config->dynamicSmemBytes, cudaOccupancyDefault))
    return error;
  *clusters = active_clusters(runtime().gpu(), blocks, size);
  return cudaSuccess;
}

// The same for every kernel whose blocks fit at all.
cudaError_t max_cluster_size(int* size, const void* function, const cudaLaunchConfig_t* config) {
  if (!size || !config) return cudaErrorInvalidValue;
  ResolvedFunction f;
  if (const cudaError_t error = resolve_function(function, &f)) return error;
  int blocks = 0;
  const dim3& b = config->blockDim;
  if (const cudaError_t error = max_blocks(&blocks, function, int(b.x * b.y * b.z),
                                           config->dynamicSmemBytes, cudaOccupancyDefault))
    return error;
  if (runtime().gpu().major < 9 || !blocks) return cudaErrorInvalidClusterSize;
  *size = largest_cluster(f);
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
    const KernelInfo& info = runtime().engine.info(f.kernel);
    const dim3 cluster = required_cluster(f);
    attributes->clusterDimMustBeSet = cluster.x != 0 || info.needs_cluster;
    attributes->requiredClusterWidth = int(cluster.x);
    attributes->requiredClusterHeight = int(cluster.y);
    attributes->requiredClusterDepth = int(cluster.z);
    attributes->nonPortableClusterSizeAllowed = f.function->large_clusters;
    attributes->clusterSchedulingPolicyPreference = f.function->cluster_policy;
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

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return api([&] { return max_clusters(clusters, function, config); });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  return api([&] { return max_cluster_size(size, function, config); });
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
