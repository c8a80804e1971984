// Kernels: their attributes, and how many of their blocks fit on a multiprocessor. A CUfunction and
// a CUkernel are the same thing here, the runtime's kernel.
#include "vm/cudart/function.h"

#include <algorithm>

#include "core/align.h"
#include "core/occupancy.h"
#include "vm/cudart/runtime.h"
#include "vm/driver/launch_config.h"
#include "vm/driver/result.h"

using namespace ridge::vm::driver;
using ridge::vm::cudart::registrations;
using ridge::vm::cudart::ResolvedFunction;

namespace {

cudaError_t get_attribute(int* value, CUfunction_attribute which, const void* function) {
  cudaFuncAttributes a;
  if (const cudaError_t error = cudaFuncGetAttributes(&a, function)) return error;
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return answer(value, a.maxThreadsPerBlock);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return answer(value, int(a.sharedSizeBytes));
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return answer(value, int(a.constSizeBytes));
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return answer(value, int(a.localSizeBytes));
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return answer(value, a.numRegs);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: return answer(value, a.ptxVersion);
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return answer(value, a.binaryVersion);
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: return answer(value, a.cacheModeCA);
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return answer(value, a.maxDynamicSharedSizeBytes);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return answer(value, a.preferredShmemCarveout);
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: return answer(value, a.clusterDimMustBeSet);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: return answer(value, a.requiredClusterWidth);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: return answer(value, a.requiredClusterHeight);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: return answer(value, a.requiredClusterDepth);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return answer(value, a.nonPortableClusterSizeAllowed);
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return answer(value, a.clusterSchedulingPolicyPreference);
    default: return cudaErrorInvalidValue;
  }
}

template <class Handle>
cudaError_t image(const void* function, Handle* out) {
  const auto* found = registrations().find_function(function);
  if (!found) return kInvalidHandle;
  return answer(out, reinterpret_cast<Handle>(found->image));
}

// The largest block that keeps most threads on a multiprocessor, and the blocks that fill the
// device.
cudaError_t best_block(int* grid, int* block, const void* function, CUoccupancyB2DSize shared_of,
                       size_t shared, int limit, unsigned flags) {
  ResolvedFunction f;
  if (!grid || !block || (flags & ~unsigned(CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)))
    return cudaErrorInvalidValue;
  if (const cudaError_t error = resolve_function(function, &f)) return error;
  constexpr int kWarp = ridge::kWarpSize;
  int most = max_threads(f);
  if (limit > 0) most = std::min(most, limit);
  int best = 0, best_blocks = 0;
  for (int warps = ridge::ceil_div(most, kWarp); warps > 0; --warps) {
    const int threads = std::min(warps * kWarp, most);
    const size_t bytes = shared_of ? shared_of(threads) : shared;
    if (bytes > size_t(dynamic_shared_limit(f))) continue;
    const int blocks = blocks_per_sm(f, threads, bytes);
    if (blocks * threads > best * best_blocks) best = threads, best_blocks = blocks;
  }
  *block = best;
  *grid = best_blocks * ridge::vm::cudart::runtime().gpu().sm_count;
  return cudaSuccess;
}

}  // namespace

extern "C" {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction function) {
  return context_call([&] { return get_attribute(value, which, function); });
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute which, CUkernel kernel,
                              CUdevice device) {
  return driver_call(
      [&] { return device ? cudaErrorInvalidDevice : get_attribute(value, which, kernel); });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  return context_call(
      [&] { return cudaFuncSetAttribute(function, cudaFuncAttribute(which), value); });
}
CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel,
                              CUdevice device) {
  return driver_call([&] {
    return device ? cudaErrorInvalidDevice
                  : cudaFuncSetAttribute(kernel, cudaFuncAttribute(which), value);
  });
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return context_call([&] { return cudaFuncSetCacheConfig(function, cudaFuncCache(config)); });
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  return driver_call([&] {
    return device ? cudaErrorInvalidDevice : cudaFuncSetCacheConfig(kernel, cudaFuncCache(config));
  });
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
  return context_call(
      [&] { return cudaFuncSetSharedMemConfig(function, cudaSharedMemConfig(config)); });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return context_call([&] { return image(function, module); });
}
CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return driver_call([&] { return image(kernel, library); });
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return context_call([&] {
    if (!registrations().find_function(kernel)) return kInvalidHandle;
    return answer(function, reinterpret_cast<CUfunction>(kernel));
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return driver_call([&] { return cudaFuncGetName(name, function); });
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return driver_call([&] { return cudaFuncGetName(name, kernel); });
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  return driver_call([&] { return cudaFuncGetParamInfo(function, index, offset, size); });
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  return driver_call([&] { return cudaFuncGetParamInfo(kernel, index, offset, size); });
}

CUresult cuFuncLoad(CUfunction function) {
  return context_call([&] {
    ResolvedFunction f;
    return resolve_function(function, &f);
  });
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return driver_call([&] {
    const auto* found = registrations().find_function(function);
    if (!found) return kInvalidHandle;
    return answer(state, found->kernel ? CU_FUNCTION_LOADING_STATE_LOADED
                                       : CU_FUNCTION_LOADING_STATE_UNLOADED);
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int threads, size_t shared,
                                                              unsigned flags) {
  return context_call([&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared,
                                                                  flags);
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, size_t shared,
                                                   int limit, unsigned flags) {
  return context_call(
      [&] { return best_block(grid, block, function, shared_of, shared, limit, flags); });
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize shared_of, size_t shared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit,
                                                   0);
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  return context_call([&] {
    if (!config) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t same = runtime_config(*config);
    return cudaOccupancyMaxActiveClusters(clusters, function, &same);
  });
}

CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function,
                                            const CUlaunchConfig* config) {
  return context_call([&] {
    if (!config) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t same = runtime_config(*config);
    return cudaOccupancyMaxPotentialClusterSize(size, function, &same);
  });
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks,
                                                 int threads) {
  return context_call(
      [&] { return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads); });
}

}  // extern "C"
