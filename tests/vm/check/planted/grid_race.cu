// Races between blocks, which only launches, grid barriers, and fences with atomics order.
#include "planted.h"

constexpr int kBlocks = 4, kThreads = 64;

__global__ void plain_sum(int* d, int fixed) {
  if (threadIdx.x != 0) return;
  if (fixed) atomicAdd(d, int(blockIdx.x) + 1);
  else d[0] += int(blockIdx.x) + 1;       // BUG plain_sum
}

__global__ void halo(int* d, int* out, int fixed) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int next = d[(i + 1) % (kBlocks * kThreads)];  // BUG halo
  __syncthreads();
  (fixed ? out : d)[i] = next;                         // BUG halo
}

// The last block adds up what all have left; without the fence it may not be there yet.
__global__ void last_block(int* parts, unsigned* count, int* out, int fixed) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = int(blockIdx.x) + 1;           // BUG last_block
    if (fixed) __threadfence();
    last = atomicInc(count, kBlocks) == kBlocks - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (int k = 0; k < kBlocks; ++k) sum += parts[k];  // BUG last_block
    *out = sum;
  }
}

// All threads write, but only the first one's writes are known to be over.
__global__ void signal_too_early(int* parts, unsigned* count, int* out, int fixed) {
  __shared__ bool last;
  parts[blockIdx.x * kThreads + threadIdx.x] = int(threadIdx.x);  // BUG signal_too_early
  if (fixed) __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(count, kBlocks) == kBlocks - 1;
  }
  __syncthreads();
  if (last) out[threadIdx.x] = parts[threadIdx.x * kBlocks + 3];  // BUG signal_too_early
}

__global__ void plain_read_of_counter(int* d, int* out, int fixed) {
  if (threadIdx.x != 0) return;
  atomicAdd(d, 1);                                     // BUG plain_read_of_counter
  if (fixed) out[blockIdx.x] = atomicAdd(d, 0);
  else out[blockIdx.x] = *d;                           // BUG plain_read_of_counter
}

__global__ void looked_at_before(int* d, int fixed) {
  const int v = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (fixed || d[0] < v) atomicMax(d, v);  // BUG looked_at_before
}

__global__ void overlapping_tiles(int* d, int fixed) {
  const int stride = fixed ? kThreads : kThreads - 1;
  d[blockIdx.x * stride + threadIdx.x] = int(threadIdx.x);  // BUG overlapping_tiles
}

// The fence holds for the block only.
__global__ void block_fence(int* parts, unsigned* count, int* out, int fixed) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = int(blockIdx.x) + 1;             // BUG block_fence
  if (fixed) __threadfence();
  else __threadfence_block();
  if (atomicInc(count, kBlocks) == kBlocks - 1) *out = parts[0] + parts[1] + parts[2];  // BUG block_fence
}

#define ON_PARTS(kernel)                                           \
  [](int fixed) {                                                  \
    Array<int> parts(kBlocks * kThreads), out(kThreads);           \
    Array<unsigned> count(1);                                      \
    kernel<<<kBlocks, kThreads>>>(parts, count, out, fixed);       \
    cudaDeviceSynchronize();                                       \
  }
#define ON_TWO(kernel)                                             \
  [](int fixed) {                                                  \
    Array<int> d(kBlocks * kThreads), out(kBlocks * kThreads);     \
    kernel<<<kBlocks, kThreads>>>(d, out, fixed);                  \
    cudaDeviceSynchronize();                                       \
  }
#define ON_ONE(kernel)                                             \
  [](int fixed) {                                                  \
    Array<int> d(kBlocks * kThreads);                              \
    kernel<<<kBlocks, kThreads>>>(d, fixed);                       \
    cudaDeviceSynchronize();                                       \
  }

const Planted kAll[] = {
    {"plain_sum", "race", ON_ONE(plain_sum)},
    {"halo", "race", ON_TWO(halo)},
    {"last_block", "race", ON_PARTS(last_block)},
    {"signal_too_early", "race", ON_PARTS(signal_too_early)},
    {"plain_read_of_counter", "race", ON_TWO(plain_read_of_counter)},
    {"looked_at_before", "race-recheck", ON_ONE(looked_at_before)},
    {"overlapping_tiles", "race", ON_ONE(overlapping_tiles)},
    {"block_fence", "race", ON_PARTS(block_fence)},
};
PLANTED_MAIN(kAll)
