// Bulk copies: what they bring read too early, what they take overwritten, the way of threads not
// fenced off from theirs, stages given free before they were read.
#include "hopper.h"
#include "planted.h"

constexpr int kThreads = 64, kBytes = kThreads * 4;

// --- read before the phase of the copy is over ---

__global__ void bulk_no_wait(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    FENCE_INIT();
    EXPECT(&full, kBytes);
    LOAD(tile, in, kBytes, &full);  // BUG bulk_no_wait
  }
  __syncthreads();
  if (fixed) WAIT(&full, 0);
  out[t] = tile[kThreads - 1 - t];  // BUG bulk_no_wait
  if (!fixed) WAIT(&full, 0);
}

// One thread waits. The others are not ordered behind it.
__global__ void bulk_one_waits(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    FENCE_INIT();
    EXPECT(&full, kBytes);
    LOAD(tile, in, kBytes, &full);  // BUG bulk_one_waits
  }
  __syncthreads();
  if (t < 32) WAIT(&full, 0);
  if (fixed) __syncthreads();
  out[t] = tile[kThreads - 1 - t];  // BUG bulk_one_waits
}

// Two copies, each with an mbarrier of its own: the second one is not waited for.
__global__ void bulk_other_barrier(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int first[kThreads], second[kThreads];
  __shared__ uint64_t full[2];
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full[0], 1);
    INIT(&full[1], 1);
    FENCE_INIT();
    EXPECT(&full[0], kBytes);
    LOAD(first, in, kBytes, &full[0]);
    EXPECT(&full[1], kBytes);
    LOAD(second, in + kThreads, kBytes, &full[1]);  // BUG bulk_other_barrier
  }
  __syncthreads();
  WAIT(&full[0], 0);
  if (fixed) WAIT(&full[1], 0);
  out[t] = first[kThreads - 1 - t] + second[t];     // BUG bulk_other_barrier
  WAIT(&full[1], 0);
}

// The wait was forgotten together with the copy.
__global__ void bulk_forgotten(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    FENCE_INIT();
    EXPECT(&full, fixed ? kBytes : 0);
    if (fixed) LOAD(tile, in, kBytes, &full);
  }
  __syncthreads();
  if (fixed) WAIT(&full, 0);
  out[t] = tile[kThreads - 1 - t];  // BUG bulk_forgotten SAYS bulk_forgotten: wait for the phase
}

// --- the source of a store overwritten ---

__global__ void store_no_wait(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  const int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    tile[t] = in[k * kThreads + t];              // BUG store_no_wait
    FENCE_PROXY();
    __syncthreads();
    if (t == 0) {
      STORE(out + k * kThreads, tile, kBytes);   // BUG store_no_wait
      COMMIT();
      if (fixed) WAIT_READ(0);
    }
    __syncthreads();
  }
}

// Two buffers in turn. Of two stores the older one must have been read.
__global__ void store_leaves_two(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[2][kThreads];
  const int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    if (t == 0) {
      if (fixed) WAIT_READ(1);
      else WAIT_READ(2);
    }
    __syncthreads();
    tile[k % 2][t] = in[t] + k;                        // BUG store_leaves_two
    FENCE_PROXY();
    __syncthreads();
    if (t == 0) {
      STORE(out + k % 2 * kThreads, tile[k % 2], kBytes);  // BUG store_leaves_two
      COMMIT();
    }
  }
}

// The thread waits, but the others go on.
__global__ void store_others_go_on(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  const int t = threadIdx.x;
  tile[t] = in[t];
  FENCE_PROXY();
  __syncthreads();
  if (t == 0) {
    STORE(out, tile, kBytes);   // BUG store_others_go_on
    COMMIT();
    WAIT_READ(0);
  }
  if (fixed) __syncthreads();
  tile[t] = 2 * in[t];          // BUG store_others_go_on
  __syncthreads();
  out[kThreads + t] = tile[kThreads - 1 - t];
}

// --- what a store writes, used before it is written ---

// The wait is for the source only.
__global__ void store_read_back(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  const int t = threadIdx.x;
  out[t] = 0;
  tile[t] = in[t];
  FENCE_PROXY();
  __syncthreads();
  if (t == 0) {
    STORE(out, tile, kBytes);                     // BUG store_read_back
    COMMIT();
    if (fixed) WAIT_WRITTEN(0);
    else WAIT_READ(0);
  }
  __syncthreads();
  out[kThreads + t] = out[kThreads - 1 - t] + 1;  // BUG store_read_back
}

// Of two stores the newer one is not waited for.
__global__ void store_of_two_read_back(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  const int t = threadIdx.x;
  out[t] = out[kThreads + t] = 0;
  tile[t] = in[t];
  FENCE_PROXY();
  __syncthreads();
  if (t == 0) {
    STORE(out, tile, kBytes);
    COMMIT();
    STORE(out + kThreads, tile, kBytes);          // BUG store_of_two_read_back
    COMMIT();
    if (fixed) WAIT_WRITTEN(0);
    else WAIT_WRITTEN(1);
    out[0] += out[1];
    out[kThreads] += 1;                           // BUG store_of_two_read_back
  }
}

// --- no fence between the two ways to shared memory ---

__global__ void no_fence(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  const int t = threadIdx.x;
  tile[t] = 2 * in[t];          // BUG no_fence
  if (fixed) FENCE_PROXY();
  __syncthreads();
  if (t == 0) {
    STORE(out, tile, kBytes);   // BUG no_fence
    COMMIT();
    WAIT_READ(0);
  }
}

// Two lines write, and one fence is missing.
__global__ void no_fence_two_writes(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[2 * kThreads];
  const int t = threadIdx.x;
  tile[t] = 2 * in[t];              // BUG no_fence_two_writes
  tile[kThreads + t] = 3 * in[t];
  if (fixed) FENCE_PROXY();
  __syncthreads();
  if (t == 0) {
    STORE(out, tile, 2 * kBytes);   // BUG no_fence_two_writes
    COMMIT();
    WAIT_READ(0);
  }
}

// A fence, but before the last write.
__global__ void fence_too_early(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ uint64_t written;
  const int t = threadIdx.x;
  if (t == 0) INIT(&written, kThreads);
  __syncthreads();
  tile[t] = in[t];
  FENCE_PROXY();
  tile[t] += 1;                 // BUG fence_too_early
  if (fixed) FENCE_PROXY();
  ARRIVE(&written);
  if (t == 0) {
    WAIT(&written, 0);
    STORE(out, tile, kBytes);   // BUG fence_too_early
    COMMIT();
    WAIT_READ(0);
  }
}

// A reduction, and a fence of the thread that starts it only before the barrier.
__global__ void reduce_no_fence(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  const int t = threadIdx.x;
  tile[t] = in[t];              // BUG reduce_no_fence
  if (t == 0 && !fixed) FENCE_PROXY();
  __syncthreads();
  if (t == 0) {
    if (fixed) FENCE_PROXY();   // the reader's own, behind the barrier
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(out), "r"(shared_address(tile)), "r"(kBytes) : "memory");  // BUG reduce_no_fence
    COMMIT();
    WAIT_READ(0);
  }
}

// --- a copy into memory that is still in use ---

__global__ void load_over_reads(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  tile[t] = t;
  if (t == 0) {
    INIT(&full, 1);
    FENCE_INIT();
  }
  __syncthreads();
  int sum = tile[kThreads - 1 - t];   // BUG load_over_reads
  if (fixed) __syncthreads();
  if (t == 0) {
    EXPECT(&full, kBytes);
    LOAD(tile, in, kBytes, &full);    // BUG load_over_reads
  }
  WAIT(&full, 0);
  out[t] = sum + tile[kThreads - 1 - t];
}

__global__ void load_over_writes(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    FENCE_INIT();
  }
  __syncthreads();
  tile[t] = -1;                       // BUG load_over_writes
  if (fixed) __syncthreads();
  if (t == 0) {
    EXPECT(&full, kBytes);
    LOAD(tile, in, kBytes, &full);    // BUG load_over_writes
  }
  WAIT(&full, 0);
  out[t] = tile[kThreads - 1 - t];
}

// --- a stage given free before it was read ---

constexpr int kStages = 2, kRounds = 6;

// Warp 0 fetches, warp 1 reads.
__global__ void released_then_read(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int ring[kStages][32];
  __shared__ uint64_t full[kStages], empty[kStages];
  const int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      INIT(&full[s], 1);
      INIT(&empty[s], 32);
    }
    FENCE_INIT();
  }
  __syncthreads();
  if (t == 0)
    for (int k = 0; k < kRounds; ++k) {
      WAIT(&empty[k % kStages], (k / kStages + 1) & 1);
      EXPECT(&full[k % kStages], 128);
      LOAD(ring[k % kStages], in + k * 4, 128, &full[k % kStages]);  // BUG released_then_read
    }
  if (t >= 32) {
    int sum = 0;
    for (int k = 0; k < kRounds; ++k) {
      WAIT(&full[k % kStages], k / kStages & 1);
      if (!fixed) ARRIVE(&empty[k % kStages]);
      sum += ring[k % kStages][63 - t];                              // BUG released_then_read
      if (fixed) ARRIVE(&empty[k % kStages]);
    }
    out[t] = sum;
  }
}

// One lane arrives for its warp, and does not wait for the other lanes.
__global__ void released_by_one_lane(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t full, empty;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(&full, 1);
    INIT(&empty, 1);
    FENCE_INIT();
  }
  __syncthreads();
  if (t == 0)
    for (int k = 0; k < kRounds; ++k) {
      WAIT(&empty, (k + 1) & 1);
      EXPECT(&full, 128);
      LOAD(tile, in + k * 4, 128, &full);                 // BUG released_by_one_lane
    }
  if (t >= 32) {
    int sum = 0;
    for (int k = 0; k < kRounds; ++k) {
      WAIT(&full, k & 1);
      if (!fixed && t == 32) ARRIVE(&empty);
      sum += tile[63 - t];                                // BUG released_by_one_lane
      __syncwarp();
      if (fixed && t == 32) ARRIVE(&empty);
    }
    out[t] = sum;
  }
}

// The second copy starts while the first one is under way. Which of them comes last, nobody knows.
__global__ void load_over_load(const int* in, int* out, int fixed) {
  __shared__ alignas(128) int tile[kThreads];
  __shared__ uint64_t full[2];
  const int t = threadIdx.x;
  if (t == 0) {
    for (int k = 0; k < 2; ++k) INIT(&full[k], 1);
    FENCE_INIT();
    for (int k = 0; k < 2; ++k) {
      EXPECT(&full[k], kBytes);
      LOAD(tile, in + k * kThreads, kBytes, &full[k]);  // BUG load_over_load SAYS load_over_load: two bulk copies at the same time
      if (fixed) WAIT(&full[k], 0);
    }
  }
  __syncthreads();
  for (int k = 0; k < 2; ++k) WAIT(&full[k], 0);
  out[t] = tile[kThreads - 1 - t];                      // BUG load_over_load
}

#define ON_ONE_BLOCK(kernel)                             \
  [](int fixed) {                                        \
    Array<int> in(2 * kThreads), out(2 * kThreads);      \
    kernel<<<1, kThreads>>>(in, out, fixed);             \
    cudaDeviceSynchronize();                             \
  }

const Planted kAll[] = {
    {"bulk_no_wait", "async", ON_ONE_BLOCK(bulk_no_wait)},
    {"bulk_one_waits", "async", ON_ONE_BLOCK(bulk_one_waits)},
    {"bulk_other_barrier", "async", ON_ONE_BLOCK(bulk_other_barrier)},
    {"bulk_forgotten", "uninitialised", ON_ONE_BLOCK(bulk_forgotten)},
    {"store_no_wait", "async", ON_ONE_BLOCK(store_no_wait)},
    {"store_leaves_two", "async", ON_ONE_BLOCK(store_leaves_two)},
    {"store_others_go_on", "async", ON_ONE_BLOCK(store_others_go_on)},
    {"store_read_back", "async", ON_ONE_BLOCK(store_read_back)},
    {"store_of_two_read_back", "async", ON_ONE_BLOCK(store_of_two_read_back)},
    {"no_fence", "proxy-fence", ON_ONE_BLOCK(no_fence)},
    {"no_fence_two_writes", "proxy-fence", ON_ONE_BLOCK(no_fence_two_writes)},
    {"fence_too_early", "proxy-fence", ON_ONE_BLOCK(fence_too_early)},
    {"reduce_no_fence", "proxy-fence", ON_ONE_BLOCK(reduce_no_fence)},
    {"load_over_reads", "async", ON_ONE_BLOCK(load_over_reads)},
    {"load_over_writes", "async", ON_ONE_BLOCK(load_over_writes)},
    {"load_over_load", "async", ON_ONE_BLOCK(load_over_load)},
    {"released_then_read", "async", ON_ONE_BLOCK(released_then_read)},
    {"released_by_one_lane", "async", ON_ONE_BLOCK(released_by_one_lane)},
};
PLANTED_MAIN(kAll)
