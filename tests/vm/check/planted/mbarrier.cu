// mbarriers: wrong byte counts, wrong parities, phases that run ahead of those who wait for them,
// use before the initialisation is there.
#include <cooperative_groups.h>

#include "hopper.h"
#include "planted.h"

namespace cg = cooperative_groups;
constexpr int kThreads = 64, kBytes = kThreads * 4;

// --- the wrong byte count ---

__global__ void expects_more(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    FENCE_INIT();
    EXPECT(&full, fixed ? kBytes : 2 * kBytes);  // BUG expects_more
    LOAD(tile, in, kBytes, &full);
  }
  __syncthreads();
  WAIT(&full, 0);                                // BUG expects_more
  out[t] = tile[kThreads - 1 - t];
}

// Elements for bytes: one copy brings more than was said.
__global__ void expects_elements(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    FENCE_INIT();
    EXPECT(&full, fixed ? kBytes : kThreads);    // BUG expects_elements
    LOAD(tile, in, kBytes, &full);
  }
  __syncthreads();
  WAIT(&full, 0);                                // BUG expects_elements
  out[t] = tile[kThreads - 1 - t];
}

// Two copies, and the bytes of one: the phase is over when one of them is there.
__global__ void expects_one_of_two(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[2][kThreads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    FENCE_INIT();
    EXPECT(&full, fixed ? 2 * kBytes : kBytes);  // BUG expects_one_of_two
    for (int k = 0; k < 2; ++k) {
      LOAD(tile[k], in + k * kThreads, kBytes, &full);  // BUG expects_one_of_two
    }
  }
  __syncthreads();
  WAIT(&full, 0);
  out[t] = tile[0][kThreads - 1 - t] + tile[1][t];
}

// --- the wrong parity ---

// Parity 1 of a fresh mbarrier is over: right for who waits for a free stage, wrong here.
__global__ void starts_with_one(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    FENCE_INIT();
    EXPECT(&full, kBytes);
    LOAD(tile, in, kBytes, &full);  // BUG starts_with_one
  }
  __syncthreads();
  WAIT(&full, fixed ? 0 : 1);
  out[t] = tile[kThreads - 1 - t];  // BUG starts_with_one
  WAIT(&full, 0);
}

// Always parity 0: in the second round the wait returns at once.
__global__ void never_flips(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    FENCE_INIT();
  }
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 2; ++k) {
    if (t == 0) {
      EXPECT(&full, kBytes);
      LOAD(tile, in + k * kThreads, kBytes, &full);  // BUG never_flips
    }
    WAIT(&full, fixed ? k & 1 : 0);
    sum += tile[kThreads - 1 - t];                   // BUG never_flips
    __syncthreads();
  }
  out[t] = sum;
  WAIT(&full, 1);
}

// One variable for the parity of two mbarriers: the wait for the second one never ends.
__global__ void flips_for_both(const int* in, int* out, int fixed) {
  __shared__ uint64_t ready[2];
  __shared__ int value[2];
  const int t = threadIdx.x;
  if (t < 2) INIT(&ready[t], 1);
  __syncthreads();
  if (t == 0)
    for (int k = 0; k < 2; ++k) {
      value[k] = in[k];
      ARRIVE(&ready[k]);
    }
  __syncthreads();
  uint32_t parity = 0;
  for (int k = 0; k < 2; ++k) {
    WAIT(&ready[k], parity);      // BUG flips_for_both
    if (!fixed) parity ^= 1;
    out[t] += value[k];
  }
}

// --- a phase too early ---

// The second phase may be over before the other warp has looked for the first.
__global__ void two_phases_ahead(const int* in, int* out, int fixed) {
  __shared__ uint64_t ready, seen;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&ready, 1);
    INIT(&seen, 32);
  }
  __syncthreads();
  if (t == 0)
    for (int k = 0; k < 2; ++k) {
      ARRIVE(&ready);             // BUG two_phases_ahead
      if (fixed) WAIT(&seen, k);
    }
  if (t >= 32)
    for (int k = 0; k < 2; ++k) {
      WAIT(&ready, k);            // BUG two_phases_ahead
      if (fixed) ARRIVE(&seen);
    }
  out[t] = in[t];
}

// The stages are free for the copies in time; but only one of two warps says so.
__global__ void one_reader_asked(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[2][32];
  __shared__ uint64_t full, empty;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    INIT(&empty, fixed ? 2 : 1);
    FENCE_INIT();
  }
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 4; ++k) {
    if (t == 64) {
      WAIT(&empty, (k + 1) & 1);
      EXPECT(&full, 256);               // BUG one_reader_asked
      LOAD(tile[0], in, 128, &full);
      LOAD(tile[1], in + 32, 128, &full);
    }
    if (t >= 64) continue;
    WAIT(&full, k & 1);                 // BUG one_reader_asked
    if (t < 32) sum += tile[0][t] + tile[1][t];
    __syncwarp();
    if (t == 0 || (fixed && t == 32)) ARRIVE(&empty);
  }
  out[t % kThreads] = sum;
}

// --- used before it is initialised ---

__global__ void no_barrier_after_init(const int* in, int* out, int fixed) {
  __shared__ uint64_t ready;
  __shared__ int value;
  const int t = threadIdx.x;
  if (t == 0) {
    value = in[0];
    INIT(&ready, 2);              // BUG no_barrier_after_init
  }
  if (fixed) __syncthreads();
  if (t % 32 == 0) ARRIVE(&ready);  // BUG no_barrier_after_init
  __syncthreads();
  WAIT(&ready, 0);
  out[t] = value;
}

// The copy is another thread's than the initialisation.
__global__ void copy_before_init(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);                   // BUG copy_before_init
    FENCE_INIT();
    EXPECT(&full, kBytes);
  }
  if (fixed) __syncthreads();
  if (t == 32) LOAD(tile, in, kBytes, &full);  // BUG copy_before_init
  __syncthreads();
  WAIT(&full, 0);
  out[t] = tile[kThreads - 1 - t];
}

// The block next door has started, but its mbarrier need not be there.
__global__ void __cluster_dims__(2, 1, 1) neighbour_not_ready(const int* in, int* out, int fixed) {
  __shared__ uint64_t ready;
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&ready, 1);              // BUG neighbour_not_ready
    FENCE_INIT();
  }
  if (fixed) cluster.sync();
  else __syncthreads();
  if (t == 0) {
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(&ready)), "r"(cluster.block_rank() ^ 1));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");  // BUG neighbour_not_ready
  }
  cluster.sync();
  out[blockIdx.x * kThreads + t] = in[t];
}

#define ON_BLOCKS(kernel, blocks, threads)               \
  [](int fixed) {                                        \
    Array<int> in(2 * kThreads), out(2 * kThreads);      \
    kernel<<<blocks, threads>>>(in, out, fixed);         \
    cudaDeviceSynchronize();                             \
  }

const Planted kAll[] = {
    {"expects_more", "deadlock", ON_BLOCKS(expects_more, 1, kThreads)},
    {"expects_elements", "deadlock", ON_BLOCKS(expects_elements, 1, kThreads)},
    {"expects_one_of_two", "mbarrier", ON_BLOCKS(expects_one_of_two, 1, kThreads)},
    {"starts_with_one", "async", ON_BLOCKS(starts_with_one, 1, kThreads)},
    {"never_flips", "async", ON_BLOCKS(never_flips, 1, kThreads)},
    {"flips_for_both", "deadlock", ON_BLOCKS(flips_for_both, 1, kThreads)},
    {"two_phases_ahead", "mbarrier", ON_BLOCKS(two_phases_ahead, 1, kThreads)},
    {"one_reader_asked", "mbarrier", ON_BLOCKS(one_reader_asked, 1, 96)},
    {"no_barrier_after_init", "mbarrier", ON_BLOCKS(no_barrier_after_init, 1, kThreads)},
    {"copy_before_init", "mbarrier", ON_BLOCKS(copy_before_init, 1, kThreads)},
    {"neighbour_not_ready", "mbarrier", ON_BLOCKS(neighbour_not_ready, 2, kThreads)},
};
PLANTED_MAIN(kAll)
