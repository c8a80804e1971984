// Clusters: blocks whose shared memory is used before they have started or after they have left,
// barriers of the cluster that are not kept, races through distributed shared memory.
#include <cooperative_groups.h>

#include <cstdint>

#include "planted.h"

namespace cg = cooperative_groups;
constexpr int kThreads = 64, kCluster = 2;
#define IN_CLUSTERS __global__ void __cluster_dims__(kCluster, 1, 1)

__device__ uint32_t address_of(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ uint32_t at_rank(uint32_t address, uint32_t rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ void init(uint64_t& barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(&barrier)), "r"(count)
               : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void wait(uint64_t& barrier) {
  uint32_t done = 0;
  while (!done)
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;"
        " selp.u32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(address_of(&barrier))
        : "memory");
}
#define ARRIVE_AT(address) \
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address) : "memory")

// --- a block that is not there ---

// Block 0 still reads when block 1 has left.
IN_CLUSTERS reads_the_gone(int* out, int fixed) {
  __shared__ int tile[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  tile[t] = t;
  cluster.sync();
  if (cluster.block_rank() == 0)
    out[t] = cluster.map_shared_rank(tile, 1)[t];  // BUG reads_the_gone
  if (fixed) cluster.sync();                       // BUG reads_the_gone
}

// Block 0 leaves, and does not know that block 1 has read.
IN_CLUSTERS leaves_early(int* out, int fixed) {
  __shared__ int tile[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  tile[t] = t;
  cluster.sync();
  if (cluster.block_rank() == 1)
    out[t] = cluster.map_shared_rank(tile, 0)[t];  // BUG leaves_early
  if (fixed) cluster.sync();                       // BUG leaves_early
}

// Both tell their neighbour that its buffer is free, and do not wait for each other's word.
IN_CLUSTERS not_drained(int* out, int fixed) {
  __shared__ alignas(8) uint64_t empty;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) init(empty, 1);
  cluster.sync();
  out[blockIdx.x] = 1;
  if (threadIdx.x == 0 && cluster.block_rank() == 1)
    ARRIVE_AT(at_rank(address_of(&empty), 0));     // BUG not_drained
  if (fixed && cluster.block_rank() == 0) wait(empty);  // BUG not_drained
}

// The same, in a function that many call.
__device__ void give_back(uint64_t& empty, uint32_t rank) {
  ARRIVE_AT(at_rank(address_of(&empty), rank));         // BUG not_drained_by_call
}
IN_CLUSTERS not_drained_by_call(int* out, int fixed) {
  __shared__ alignas(8) uint64_t empty;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) init(empty, 1);
  cluster.sync();
  out[blockIdx.x] = 1;
  if (threadIdx.x == 0 && cluster.block_rank() == 1)
    give_back(empty, 0);                                // CALLS not_drained_by_call
  if (fixed && cluster.block_rank() == 0) wait(empty);  // BUG not_drained_by_call
}

IN_CLUSTERS no_first_barrier(int* out, int fixed) {
  __shared__ int tile[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  if (fixed) cluster.sync();
  cluster.map_shared_rank(tile, 1 - cluster.block_rank())[t] = t;  // BUG no_first_barrier
  cluster.sync();
  out[blockIdx.x * kThreads + t] = tile[t];
}

// A barrier of the block says nothing about the other block.
IN_CLUSTERS barrier_of_the_block(int* out, int fixed) {
  __shared__ int total;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) total = 0;
  if (fixed) cluster.sync();
  else __syncthreads();
  if (cluster.block_rank() == 0)
    atomicAdd(cluster.map_shared_rank(&total, 1), 1);  // BUG barrier_of_the_block
  cluster.sync();
  out[blockIdx.x] = total;
}

// --- the barrier of the cluster ---

IN_CLUSTERS warp_skips(int* out, int fixed) {
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  if (t < 32 || fixed) cluster.sync();  // BUG warp_skips
  out[blockIdx.x * kThreads + t] = t;   // BUG warp_skips
}

IN_CLUSTERS block_skips(int* out, int fixed) {
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  if (cluster.block_rank() == 0 || fixed) cluster.sync();  // BUG block_skips
  out[blockIdx.x * kThreads + t] = t;                      // BUG block_skips
}

IN_CLUSTERS lane_skips(int* out, int fixed) {
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  if (t != 7 || fixed) cluster.sync();  // BUG lane_skips
  out[blockIdx.x * kThreads + t] = t;
  cluster.sync();
}

IN_CLUSTERS arrives_twice(int* out, int fixed) {
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");             // BUG arrives_twice
  if (fixed) asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");             // BUG arrives_twice
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

IN_CLUSTERS waits_without_arriving(int* out, int fixed) {
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
  if (fixed) asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");  // BUG waits_without_arriving
}

// --- races ---

IN_CLUSTERS sent_past_the_barrier(int* out, int fixed) {
  __shared__ int tile[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  tile[t] = 0;
  cluster.sync();
  cluster.map_shared_rank(tile, 1 - cluster.block_rank())[t] = t + 1;  // BUG sent_past_the_barrier
  if (fixed) cluster.sync();
  else __syncthreads();
  out[blockIdx.x * kThreads + t] = tile[kThreads - 1 - t];             // BUG sent_past_the_barrier
  cluster.sync();
}

IN_CLUSTERS read_before_written(int* out, int fixed) {
  __shared__ int tile[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  tile[t] = 0;
  cluster.sync();
  tile[t] = t * 5 + 1;                                                 // BUG read_before_written
  if (fixed) cluster.sync();
  out[blockIdx.x * kThreads + t] =
      cluster.map_shared_rank(tile, 1 - cluster.block_rank())[t];      // BUG read_before_written
  cluster.sync();
}

// The owner goes on to the next turn while the other block still reads.
IN_CLUSTERS overwritten_next_turn(int* out, int fixed) {
  __shared__ int tile[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int turn = 0; turn < 3; ++turn) {
    tile[t] = turn * t;                                                // BUG overwritten_next_turn
    cluster.sync();
    sum += cluster.map_shared_rank(tile, 1 - cluster.block_rank())[t]; // BUG overwritten_next_turn
    if (fixed) cluster.sync();
    else __syncthreads();
  }
  out[blockIdx.x * kThreads + t] = sum;
  cluster.sync();
}

// Both blocks leave their number in block 0.
IN_CLUSTERS two_writers(int* out, int fixed) {
  __shared__ int winner[kCluster];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x < kCluster) winner[threadIdx.x] = -1;
  cluster.sync();
  if (threadIdx.x == 0)
    cluster.map_shared_rank(winner, 0)[fixed ? rank : 0] = int(blockIdx.x);  // BUG two_writers
  cluster.sync();
  if (threadIdx.x == 0 && rank == 0) out[0] = winner[0];
}

// The mbarrier says that the values have come, but only one warp waits for it.
IN_CLUSTERS one_warp_waits(int* out, int fixed) {
  __shared__ int tile[kThreads];
  __shared__ alignas(8) uint64_t full;
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  tile[t] = 0;
  if (t == 0) init(full, kThreads);
  cluster.sync();
  if (cluster.block_rank() == 0) {
    cluster.map_shared_rank(tile, 1)[t] = t + 1;  // BUG one_warp_waits
    ARRIVE_AT(at_rank(address_of(&full), 1));
  } else {
    if (t < 32 || fixed) wait(full);
    out[t] = tile[kThreads - 1 - t];              // BUG one_warp_waits
  }
  cluster.sync();
}

#define SEND(to, value, barrier)                                                                 \
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to), \
               "r"(value), "r"(barrier) : "memory")
__device__ void expect(uint64_t& barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&barrier)),
               "r"(bytes) : "memory");
}

// Values are sent with an mbarrier, and one warp reads them without a look at it.
IN_CLUSTERS sent_and_not_awaited(int* out, int fixed) {
  __shared__ int box[kThreads];
  __shared__ alignas(8) uint64_t full;
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  const unsigned other = 1 - cluster.block_rank();
  box[t] = 0;
  if (t == 0) init(full, 1);
  if (t == 0) expect(full, sizeof box);
  cluster.sync();
  SEND(at_rank(address_of(&box[t]), other), t, at_rank(address_of(&full), other));  // BUG sent_and_not_awaited
  if (t < 32 || fixed) wait(full);
  out[blockIdx.x * kThreads + t] = box[kThreads - 1 - t];                           // BUG sent_and_not_awaited
  cluster.sync();
}

// Block 0 does not wait for what block 1 sends it.
IN_CLUSTERS sent_to_the_leaving(int* out, int fixed) {
  __shared__ int box[kThreads];
  __shared__ alignas(8) uint64_t full;
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  if (t == 0) init(full, 1);
  if (t == 0) expect(full, sizeof box);
  cluster.sync();
  out[blockIdx.x * kThreads + t] = t;
  if (cluster.block_rank() == 1)
    SEND(at_rank(address_of(&box[t]), 0), t, at_rank(address_of(&full), 0));  // BUG sent_to_the_leaving
  else if (fixed) wait(full);                                                 // BUG sent_to_the_leaving
}

#define ON_ONE_CLUSTER(kernel)                 \
  [](int fixed) {                              \
    Array<int> out(kCluster * kThreads);       \
    kernel<<<kCluster, kThreads>>>(out, fixed);\
    cudaDeviceSynchronize();                   \
  }

const Planted kAll[] = {
    {"reads_the_gone", "cluster", ON_ONE_CLUSTER(reads_the_gone)},
    {"leaves_early", "cluster", ON_ONE_CLUSTER(leaves_early)},
    {"not_drained", "cluster", ON_ONE_CLUSTER(not_drained)},
    {"not_drained_by_call", "cluster", ON_ONE_CLUSTER(not_drained_by_call)},
    {"no_first_barrier", "cluster", ON_ONE_CLUSTER(no_first_barrier)},
    {"barrier_of_the_block", "cluster", ON_ONE_CLUSTER(barrier_of_the_block)},
    {"warp_skips", "cluster", ON_ONE_CLUSTER(warp_skips)},
    {"block_skips", "cluster", ON_ONE_CLUSTER(block_skips)},
    {"lane_skips", "deadlock", ON_ONE_CLUSTER(lane_skips)},
    {"arrives_twice", "cluster", ON_ONE_CLUSTER(arrives_twice)},
    {"waits_without_arriving", "cluster", ON_ONE_CLUSTER(waits_without_arriving)},
    {"sent_past_the_barrier", "race", ON_ONE_CLUSTER(sent_past_the_barrier)},
    {"read_before_written", "race", ON_ONE_CLUSTER(read_before_written)},
    {"overwritten_next_turn", "race", ON_ONE_CLUSTER(overwritten_next_turn)},
    {"two_writers", "race", ON_ONE_CLUSTER(two_writers)},
    {"one_warp_waits", "race", ON_ONE_CLUSTER(one_warp_waits)},
    {"sent_and_not_awaited", "race", ON_ONE_CLUSTER(sent_and_not_awaited)},
    {"sent_to_the_leaving", "cluster", ON_ONE_CLUSTER(sent_to_the_leaving)},
};
PLANTED_MAIN(kAll)
