#include "vm/cudart/pools.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "vm/cudart/capture.h"
#include "vm/cudart/failed_call.h"
#include "vm/cudart/graph/memory.h"
#include "vm/cudart/handles.h"
#include "vm/cudart/memory.h"
#include "vm/cudart/refuse.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"
#include "vm/cudart/work.h"

namespace ridge::vm::cudart {
namespace {

struct Block {
  PoolRef pool;
  uint64_t size = 0;
  bool freeing = false;  // its cudaFreeAsync is in a stream
};

struct Pools {
  Handles<Pool> handles;
  std::mutex mutex;  // guards what follows
  std::unordered_map<const void*, Block> blocks;
  cudaMemPool_t standard = nullptr, current = nullptr;

  Pools() {
    standard = current = static_cast<cudaMemPool_t>(handles.add(std::make_shared<Pool>()));
  }
};
Pools& all_pools() {
  static auto& instance = *new Pools;
  return instance;
}

void give_back(void* pointer) {
  runtime().engine.memory().release(reinterpret_cast<uintptr_t>(pointer), MemKind::device);
  forget_pooled(pointer);
}

}  // namespace

cudaMemPool_t default_pool() { return all_pools().standard; }

cudaMemPool_t current_pool() {
  const std::lock_guard lock(all_pools().mutex);
  return all_pools().current;
}

cudaError_t set_current_pool(cudaMemPool_t pool) {
  if (!find_pool(pool)) return cudaErrorInvalidValue;
  const std::lock_guard lock(all_pools().mutex);
  all_pools().current = pool;
  return cudaSuccess;
}

PoolRef find_pool(cudaMemPool_t handle) { return all_pools().handles.find(handle); }

cudaError_t create_pool(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned)
    return cudaErrorInvalidValue;
  if (properties->location.type != cudaMemLocationTypeDevice)
    return cudaError_t(refuse("cudaMemPoolCreate for host memory", "memory pools"));
  if (properties->location.id != 0) return cudaErrorInvalidDevice;
  if (properties->handleTypes != cudaMemHandleTypeNone)
    return cudaError_t(refuse("cudaMemPoolCreate with a shareable handle type",
                              "sharing memory between processes"));
  *pool = static_cast<cudaMemPool_t>(all_pools().handles.add(std::make_shared<Pool>()));
  return cudaSuccess;
}

cudaError_t destroy_pool(cudaMemPool_t pool) {
  if (pool == default_pool()) return cudaErrorInvalidValue;
  if (!all_pools().handles.take(pool)) return cudaErrorInvalidValue;
  const std::lock_guard lock(all_pools().mutex);
  if (all_pools().current == pool) all_pools().current = all_pools().standard;
  return cudaSuccess;
}

cudaError_t allocate_async(void** pointer, size_t bytes, const PoolRef& pool, cudaStream_t handle) {
  const StreamRef stream = find_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (!pointer || !pool) return cudaErrorInvalidValue;
  if (const CaptureRef capture = capture_of(stream)) {
    GraphMemoryRef memory;
    if (const cudaError_t error = make_graph_memory(bytes, &memory)) return error;
    if (const cudaError_t error = capture_work(capture, stream, AllocWork{memory})) return error;
    *pointer = memory->pointer();
    return cudaSuccess;
  }
  if (const cudaError_t error = check_implicit(stream)) return error;
  if (const cudaError_t error = allocate(pointer, bytes, MemKind::device, 0)) return error;
  if (!*pointer) return cudaSuccess;  // no bytes
  {
    const std::lock_guard lock(pool->mutex);
    pool->used += bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
    pool->reserved_high = std::max(pool->reserved_high, pool->used);
  }
  const std::lock_guard lock(all_pools().mutex);
  all_pools().blocks[*pointer] = {pool, bytes};
  return cudaSuccess;
}

cudaError_t free_async(void* pointer, cudaStream_t handle) {
  const StreamRef stream = find_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (!pointer) return cudaSuccess;
  const GraphMemoryRef memory = find_graph_memory(pointer);
  if (const CaptureRef capture = capture_of(stream)) {
    if (const cudaError_t error = check_free_node(*capture->graph, memory)) {
      (void)refuse_in_capture(stream);
      return error;
    }
    return capture_work(capture, stream, FreeWork{memory});
  }
  if (const cudaError_t error = check_implicit(stream)) return error;
  if (memory) return free_graph_memory(memory, stream);
  const auto found = find_allocation(pointer);
  const bool freeable = found && found->base == reinterpret_cast<uintptr_t>(pointer) &&
                        found->kind == MemKind::device;
  if (!freeable) return free_device(pointer);  // says what the pointer is
  {
    const std::lock_guard lock(all_pools().mutex);
    const auto block = all_pools().blocks.find(pointer);
    if (block != all_pools().blocks.end() && std::exchange(block->second.freeing, true))
      return fail(cudaErrorInvalidValue,
                  {.asked = {},
                   .why = "double free: the pointer's cudaFreeAsync is already in a stream",
                   .fix = "free it once",
                   .kind = "invalid-free"});
  }
  runtime().scheduler.submit(stream, [pointer] { give_back(pointer); });
  return cudaSuccess;
}

void forget_pooled(const void* pointer) {
  Block block;
  {
    const std::lock_guard lock(all_pools().mutex);
    const auto found = all_pools().blocks.find(pointer);
    if (found == all_pools().blocks.end()) return;
    block = std::move(found->second);
    all_pools().blocks.erase(found);
  }
  const std::lock_guard lock(block.pool->mutex);
  block.pool->used -= block.size;
}

namespace {

uint64_t* counter(Pool& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold: return &pool.release_threshold;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: return &pool.used;
    case cudaMemPoolAttrReservedMemHigh: return &pool.reserved_high;
    case cudaMemPoolAttrUsedMemHigh: return &pool.used_high;
    default: return nullptr;
  }
}

int* switch_of(Pool& pool, cudaMemPoolAttr attribute) {
  const int index = int(attribute) - int(cudaMemPoolReuseFollowEventDependencies);
  return index >= 0 && index < int(pool.reuse.size()) ? &pool.reuse[size_t(index)] : nullptr;
}

}  // namespace

cudaError_t pool_attribute(Pool& pool, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard lock(pool.mutex);
  if (const int* flag = switch_of(pool, attribute))
    return *static_cast<int*>(value) = *flag, cudaSuccess;
  if (const uint64_t* number = counter(pool, attribute))
    return *static_cast<uint64_t*>(value) = *number, cudaSuccess;
  return cudaErrorInvalidValue;
}

cudaError_t set_pool_attribute(Pool& pool, cudaMemPoolAttr attribute, const void* value) {
  const std::lock_guard lock(pool.mutex);
  if (int* flag = switch_of(pool, attribute))
    return *flag = *static_cast<const int*>(value), cudaSuccess;
  const uint64_t number = *static_cast<const uint64_t*>(value);
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold: pool.release_threshold = number; return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:  // a high mark can only be reset
      if (number) return cudaErrorInvalidValue;
      *counter(pool, attribute) = pool.used;
      return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

void reset_pools() {
  const std::lock_guard lock(all_pools().mutex);
  all_pools().blocks.clear();
  all_pools().current = all_pools().standard;
  const PoolRef standard = find_pool(all_pools().standard);
  standard->used = standard->used_high = standard->reserved_high = 0;
}

}  // namespace ridge::vm::cudart
