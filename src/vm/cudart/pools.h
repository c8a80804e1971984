// Stream-ordered allocation: cudaMallocAsync, cudaFreeAsync, and the pools behind them.
//
// Memory is taken when it is asked for and given back when the stream gets there. A pool keeps
// nothing for reuse, so its reserved and its used bytes are the same number.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

#include "vm/cudart/api.h"

namespace ridge::vm::cudart {

struct Pool {
  std::mutex mutex;  // guards what follows
  // Hints: follow events, opportunistic, internal dependencies.
  std::array<int, 3> reuse = {1, 1, 1};
  uint64_t release_threshold = 0;  // a hint: nothing is kept
  uint64_t used = 0, used_high = 0, reserved_high = 0;
};
using PoolRef = std::shared_ptr<Pool>;

cudaMemPool_t default_pool();
cudaMemPool_t current_pool();
cudaError_t set_current_pool(cudaMemPool_t pool);
cudaError_t create_pool(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t destroy_pool(cudaMemPool_t pool);
PoolRef find_pool(cudaMemPool_t handle);

cudaError_t allocate_async(void** pointer, size_t bytes, const PoolRef& pool, cudaStream_t stream);
cudaError_t free_async(void* pointer, cudaStream_t stream);
// cudaFree of memory from a pool: tells the pool. Does nothing for other memory.
void forget_pooled(const void* pointer);

cudaError_t pool_attribute(Pool& pool, cudaMemPoolAttr attribute, void* value);
cudaError_t set_pool_attribute(Pool& pool, cudaMemPoolAttr attribute, const void* value);
void reset_pools();

}  // namespace ridge::vm::cudart
