#include "vm/cudart/limits.h"

#include <algorithm>
#include <mutex>

#include "vm/cudart/config.h"
#include "vm/cudart/device.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {
namespace {

constexpr size_t kMaxStack = 512 * 1024;  // bytes per thread

// As an H200 answers when nobody has set them.
struct Limits {
  size_t stack = 1024;
  size_t printf_fifo = 8650752;
  size_t malloc_heap = 8388608;
  size_t pending_launches = 2048;
  size_t l2_fetch = 64;
  size_t persisting_l2 = 0;
};
Limits limits;
std::mutex mutex;

size_t* slot(cudaLimit limit) {
  switch (limit) {
    case cudaLimitStackSize: return &limits.stack;
    case cudaLimitPrintfFifoSize: return &limits.printf_fifo;
    case cudaLimitMallocHeapSize: return &limits.malloc_heap;
    case cudaLimitDevRuntimePendingLaunchCount: return &limits.pending_launches;
    case cudaLimitMaxL2FetchGranularity: return &limits.l2_fetch;
    case cudaLimitPersistingL2CacheSize: return &limits.persisting_l2;
    default: return nullptr;
  }
}

cudaError_t unknown(cudaLimit limit) {
  return limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue;
}

}  // namespace

cudaError_t get_limit(cudaLimit limit, size_t* value) {
  const std::lock_guard lock(mutex);
  const size_t* found = slot(limit);
  if (!found) return unknown(limit);
  *value = *found;
  return cudaSuccess;
}

cudaError_t set_limit(cudaLimit limit, size_t value) {
  const std::lock_guard lock(mutex);
  size_t* found = slot(limit);
  if (!found) return unknown(limit);
  if (limit == cudaLimitStackSize && value > kMaxStack) return cudaErrorInvalidValue;
  if (limit == cudaLimitPersistingL2CacheSize)
    value = std::min(value,
                     size_t(*device_attribute(config().gpu, cudaDevAttrMaxPersistingL2CacheSize)));
  *found = value;
  if (limit == cudaLimitMallocHeapSize) runtime().engine.set_heap_limit(value);
  return cudaSuccess;
}

void reset_limits() {
  const std::lock_guard lock(mutex);
  limits = {};
  runtime().engine.set_heap_limit(limits.malloc_heap);
}

}  // namespace ridge::vm::cudart
