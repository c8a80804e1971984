// Locks, queues and barriers of the grid, which end whatever the order of warps, and have no race:
// PROGRAM runs all of them, PROGRAM NAME one.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace cg = cooperative_groups;

// One lane of each warp takes a lock.
__global__ void warp_locks(int* locks, int* sums, int buckets, int rounds) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int k = 0; k < rounds; ++k) {
    const int bucket = (warp * 7 + k) % buckets;
    if (threadIdx.x % 32 == 0) {
      while (atomicCAS(&locks[bucket], 0, 1) != 0) {
      }
      __threadfence();
      sums[bucket] = sums[bucket] + 1;
      __threadfence();
      atomicExch(&locks[bucket], 0);
    }
    __syncwarp();
  }
}

__global__ void thread_locks(int* locks, int* sums, int buckets, int rounds) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < rounds; ++k) {
    const int bucket = (thread * 5 + k) % buckets;
    for (bool done = false; !done;) {
      if (atomicCAS(&locks[bucket], 0, 1) != 0) continue;
      __threadfence();
      sums[bucket] = sums[bucket] + 1;
      __threadfence();
      atomicExch(&locks[bucket], 0);
      done = true;
    }
  }
}

__global__ void tickets(unsigned* next, unsigned* serving, int* sum, int rounds) {
  for (int k = 0; k < rounds; ++k) {
    if (threadIdx.x == 0) {
      const unsigned mine = atomicAdd(next, 1u);
      while (atomicAdd(serving, 0u) != mine) {
      }
      __threadfence();
      *sum = *sum + 1;
      __threadfence();
      atomicAdd(serving, 1u);
    }
    __syncthreads();
  }
}

// Items make new items until all are halved down to one. The loop's only way out is a return, and
// one lane waits while the others of its warp are at the barrier already.
__global__ void queue(int* items, unsigned* head, unsigned* tail, int* left, int* sum) {
  __shared__ int item;
  while (true) {
    if (threadIdx.x == 0) {
      item = -1;
      while (atomicAdd(left, 0) > 0) {
        const unsigned h = atomicAdd(head, 0u), t = atomicAdd(tail, 0u);
        if (h >= t || atomicCAS(head, h, h + 1) != h) continue;
        int found;
        while ((found = atomicExch(&items[h], -1)) < 0) {
        }
        item = found;
        break;
      }
    }
    __syncthreads();
    const int mine = item;
    __syncthreads();
    if (mine < 0) return;
    if (threadIdx.x == 0) {
      atomicAdd(sum, mine);
      if (mine > 1) {
        atomicAdd(left, 2);
        const unsigned at = atomicAdd(tail, 2u);
        atomicExch(&items[at], mine / 2);
        atomicExch(&items[at + 1], mine - mine / 2);
      }
      atomicSub(left, 1);
    }
  }
}

__global__ void grid_barriers(int* d, int n, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const int i = int(grid.thread_rank());
  for (int k = 0; k < rounds; ++k) {
    const int x = d[(i + 1) % n];
    grid.sync();
    d[i] = x + 1;
    grid.sync();
  }
}

// Each block waits for a flag of the one before it.
__global__ void chain(int* flags, int* values) {
  if (threadIdx.x) return;
  int before = 0;
  if (blockIdx.x) {
    while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0) {
    }
    __threadfence();
    before = values[blockIdx.x - 1];
  }
  values[blockIdx.x] = before + 1;
  __threadfence();
  atomicExch(&flags[blockIdx.x], 1);
}

// One warp waits for a counter in shared memory that the other one adds to, as cuda::barrier does
// beyond the scope of a block.
__global__ void shared_counter(int* values) {
  __shared__ unsigned long long counter;
  __shared__ int data[32];
  const unsigned t = threadIdx.x % 32;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    data[t] = int(t);
    asm volatile("{.reg .b64 old; atom.add.release.gpu.u64 old, [%0], 1;}" ::"l"(&counter) : "memory");
  } else {
    unsigned long long seen = 0;
    while (seen < 32) asm volatile("ld.acquire.gpu.b64 %0, [%1];" : "=l"(seen) : "l"(&counter) : "memory");
    values[t] = data[31 - t];
  }
}

// Lanes that wait for others of their warp store the same value later.
__device__ __noinline__ void set(int* value) { *value = 7; }
__global__ void one_after_the_other(int* flag, int* value) {
  if (threadIdx.x % 2) {
    while (atomicAdd(flag, 0) == 0) {
    }
    set(value);
    atomicAdd(&value[1], 1);
  } else {
    set(value);
    atomicExch(flag, 1);
  }
}

int main(int argc, char** argv) {
  constexpr int kWords = 4096;
  int *a, *b, wrong = 0;
  std::vector<int> host(kWords);
  cudaMalloc(&a, kWords * sizeof(int));
  cudaMalloc(&b, kWords * sizeof(int));
  const auto begins = [&](const char* name) {
    cudaMemset(a, 0, kWords * sizeof(int));
    cudaMemset(b, 0, kWords * sizeof(int));
    return argc < 2 || !std::strcmp(argv[1], name);
  };
  const auto expect = [&](const char* name, const int* at, int count, long want) {
    cudaMemcpy(host.data(), at, size_t(count) * sizeof(int), cudaMemcpyDeviceToHost);
    long sum = 0;
    for (int k = 0; k < count; ++k) sum += host[size_t(k)];
    if (sum == want) return;
    std::printf("%s: %ld, not %ld\n", name, sum, want);
    ++wrong;
  };
  if (begins("warp_locks")) {
    warp_locks<<<64, 256>>>(a, b, 37, 10);
    expect("warp_locks", b, 37, 64 * 8 * 10);
  }
  if (begins("thread_locks")) {
    thread_locks<<<16, 128>>>(a, b, 61, 3);
    expect("thread_locks", b, 61, 16 * 128 * 3);
  }
  if (begins("tickets")) {
    tickets<<<32, 64>>>(reinterpret_cast<unsigned*>(a), reinterpret_cast<unsigned*>(a) + 1, b, 10);
    expect("tickets", b, 1, 320);
  }
  if (begins("queue")) {
    const int first = 512, counters[4] = {0, 1, 1, 0};
    cudaMemset(a, 0xff, kWords * sizeof(int));
    cudaMemcpy(a, &first, sizeof first, cudaMemcpyHostToDevice);
    cudaMemcpy(b, counters, sizeof counters, cudaMemcpyHostToDevice);
    queue<<<16, 64>>>(a, reinterpret_cast<unsigned*>(b), reinterpret_cast<unsigned*>(b) + 1, b + 2, b + 3);
    expect("queue", b + 3, 1, 512 * 10);
  }
  if (begins("grid_barriers")) {
    int n = 16 * 128, rounds = 10;
    void* arguments[] = {&a, &n, &rounds};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_barriers), 16, 128, arguments, 0, nullptr);
    expect("grid_barriers", a, n, 10l * n);
  }
  if (begins("chain")) {
    chain<<<64, 64>>>(a, b);
    expect("chain", b + 63, 1, 64);
  }
  if (begins("shared_counter")) {
    shared_counter<<<1, 64>>>(b);
    expect("shared_counter", b, 32, 31 * 32 / 2);
  }
  if (begins("one_after_the_other")) {
    one_after_the_other<<<1, 32>>>(a, b);
    expect("one_after_the_other", b, 2, 7 + 16);
  }
  cudaFree(a);
  cudaFree(b);
  return wrong;
}
