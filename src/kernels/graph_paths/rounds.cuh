// Rounds without the host: one launch whose blocks all run at the same time (a cooperative launch)
// goes from round to round until nothing changes. The host could not know when to stop without
// waiting for the device, and a launch per round would cost 2 µs even where a round finds one node.
#pragma once

#include "device/lanes.cuh"
#include "kernels/graph_paths/graph_paths.h"

namespace ridge::graph_paths {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;  // at once: what __launch_bounds__ promises
constexpr uint32_t kNowhere = 0xffffffffu, kInfinity = 0x7f800000u;

// Words that change while other blocks run, which the L1 cache may hold in an old state.
__device__ __forceinline__ uint32_t load_fresh(uint32_t* from) {
  return __nv_atomic_load_n(from, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
__device__ __forceinline__ void store_fresh(uint32_t* to, uint32_t value) {
  __nv_atomic_store_n(to, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// What the rounds of a launch share. Three counters take turns: one is read, one is added to, and
// one is made 0 for the round after.
struct Shared {
  uint32_t arrivals;    // of blocks at barriers, counted up without end
  uint32_t counts[3];   // nodes that changed
  uint32_t unused[28];  // what follows has a cache line of its own
};

// In the workspace: Shared, then arrays of one word per node or edge.
struct Memory {
  Shared* shared;
  uint32_t* words;

  explicit Memory(const Args& a)
      : shared(static_cast<Shared*>(a.workspace)), words(reinterpret_cast<uint32_t*>(shared + 1)) {}
  static size_t bytes(int64_t words) { return sizeof(Shared) + size_t(words) * sizeof(uint32_t); }
};

// All threads of all blocks. What was written before is visible to all behind it.
__device__ __forceinline__ void grid_barrier(Shared* shared) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const uint32_t before = atomicAdd(&shared->arrivals, 1u);
    const uint32_t all = (before / gridDim.x + 1) * gridDim.x;
    while (int32_t(load_fresh(&shared->arrivals) - all) < 0) __nanosleep(100);
    __threadfence();
  }
  __syncthreads();
}

// Distances start at infinity, but for the source, and the first `zeros` words of the workspace,
// and what is shared, at 0.
static __global__ void __launch_bounds__(kThreads)
    start_paths(Args a, Memory memory, int64_t zeros) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i < a.vertices) a.distances[i] = i == a.source ? 0 : a.weights ? kInfinity : kNowhere;
  if (i < zeros) memory.words[i] = 0;
  if (i < int64_t(sizeof(Shared) / sizeof(uint32_t)))
    reinterpret_cast<uint32_t*>(memory.shared)[i] = i == 1 ? 1 : 0;  // the source has changed
}

// Edge e from a node at distance `from`: the node that it leads to, if that became nearer; else -1.
__device__ __forceinline__ int32_t relax(const Args& a, int64_t e, uint32_t from) {
  const int32_t to = a.targets[e];
  if (to < 0 || to >= a.vertices) return -1;
  uint32_t distance = from + 1;
  if (a.weights) {
    const float weight = a.weights[e];
    if (!(weight >= 0)) return -1;
    distance = __float_as_uint(__uint_as_float(from) + fabsf(weight));  // of -0: 0
  }
  // Most edges lead to nodes that are near enough already: a look costs less than an atomic.
  if (load_fresh(a.distances + to) <= distance) return -1;
  return atomicMin(a.distances + to, distance) > distance ? to : -1;
}

// Calls round(number, count of nodes that changed in the round before) until none do. `round`
// returns how many nodes the thread changed, and may add to counts itself instead.
template <class F>
__device__ __forceinline__ void each_round(Shared* shared, F round) {
  for (uint32_t number = 0;; ++number) {
    const uint32_t changed = load_fresh(&shared->counts[number % 3]);
    if (changed == 0) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) store_fresh(&shared->counts[(number + 2) % 3], 0);
    round(number, changed, &shared->counts[(number + 1) % 3]);
    grid_barrier(shared);
  }
}
__device__ __forceinline__ void tell_changed(uint32_t* count, bool changed) {
  if (__syncthreads_or(changed) && threadIdx.x == 0) store_fresh(count, 1);
}

inline Status launch_start(const Args& a, int64_t zeros, cudaStream_t stream) {
  const int64_t least = int64_t(sizeof(Shared) / sizeof(uint32_t));
  const int64_t threads = a.vertices > zeros ? a.vertices : zeros;
  const int64_t all = threads > least ? threads : least;
  start_paths<<<unsigned((all + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a, Memory(a),
                                                                                  zeros);
  return launch_status();
}
// One thread per work item, as far as blocks fit the GPU at once.
inline Status launch_rounds(void (*kernel)(Args, Memory), Args a, int64_t items,
                            const DeviceInfo& device, cudaStream_t stream) {
  const int64_t wanted = (items + kThreads - 1) / kThreads;
  const int64_t most = int64_t(device.sm_count) * kBlocksPerSm;
  const auto blocks = unsigned(wanted < 1 ? 1 : wanted < most ? wanted : most);
  Memory memory(a);
  void* parameters[] = {&a, &memory};
  (void)cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks),
                                    dim3(kThreads), parameters, 0, stream);
  return launch_status();
}

}  // namespace ridge::graph_paths
