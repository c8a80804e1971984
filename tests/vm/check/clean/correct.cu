// Correct programs of the kinds that a race checker may misjudge: pipelines, double buffers, flags,
// the last block, warps with different work, lanes that meet in groups.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;
constexpr int kThreads = 128, kBlocks = 8, kSize = kThreads * kBlocks;

// Two buffers, one barrier in each turn.
__global__ void double_buffer(const int* in, int* out) {
  __shared__ int s[2][kThreads];
  const int t = threadIdx.x;
  int sum = 0;
  s[0][t] = in[t];
  for (int k = 0; k < kBlocks; ++k) {
    __syncthreads();
    if (k + 1 < kBlocks) s[(k + 1) % 2][t] = in[(k + 1) * kThreads + t];
    sum += s[k % 2][kThreads - 1 - t];
  }
  out[t] = sum;
}

__global__ void pipeline(const int* in, int* out) {
  __shared__ int s[2][kThreads];
  auto pipe = cuda::make_pipeline();
  const int t = threadIdx.x;
  int sum = 0;
  for (int k = 0; k < kBlocks + 1; ++k) {
    if (k < kBlocks) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[k % 2][t], &in[k * kThreads + t], sizeof(int), pipe);
      pipe.producer_commit();
    }
    if (k == 0) continue;
    if (k < kBlocks) cuda::pipeline_consumer_wait_prior<1>(pipe);
    else cuda::pipeline_consumer_wait_prior<0>(pipe);
    __syncthreads();
    sum += s[(k - 1) % 2][kThreads - 1 - t];
    __syncthreads();
    pipe.consumer_release();
  }
  out[t] = sum;
}

// Half of the warps fill a buffer, half of them empty it; two barriers with ids of their own.
__global__ void producers(const int* in, int* out) {
  __shared__ int s[kThreads / 2];
  const int t = threadIdx.x % (kThreads / 2);
  const bool fills = threadIdx.x < kThreads / 2;
  int sum = 0;
  for (int k = 0; k < 2 * kBlocks; ++k) {
    if (fills) {
      if (k) asm volatile("bar.sync 2, 128;" ::: "memory");
      s[t] = in[k * (kThreads / 2) + t];
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      sum += s[kThreads / 2 - 1 - t];
      if (k + 1 < 2 * kBlocks) asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
  }
  if (!fills) out[t] = sum;
}

__global__ void phases(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int s[kThreads];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, kThreads);
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < kBlocks; ++k) {
    s[t] = in[k * kThreads + t];
    barrier.arrive_and_wait();
    sum += s[kThreads - 1 - t];
    barrier.arrive_and_wait();
  }
  out[t] = sum;
}

__global__ void last_block(const int* in, int* parts, unsigned* count, int* out) {
  __shared__ bool last;
  const int total = __syncthreads_count(in[blockIdx.x * kThreads + threadIdx.x] & 1);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = total;
    __threadfence();
    last = atomicInc(count, kBlocks) == kBlocks - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x) return;
  int sum = 0;
  for (int k = 0; k < kBlocks; ++k) sum += parts[k];
  *out = sum;
}

// A volatile flag behind a fence.
__global__ void flags(volatile int* flag, int* value, int* out) {
  if (threadIdx.x) return;
  int before = 0;
  if (blockIdx.x) {
    while (flag[blockIdx.x - 1] == 0) {
    }
    __threadfence();
    before = value[blockIdx.x - 1];
  }
  value[blockIdx.x] = before + 1;
  __threadfence();
  flag[blockIdx.x] = 1;
  if (blockIdx.x == gridDim.x - 1) *out = before + 1;
}

__global__ void acquire_release(int* flag, int* value, int* out) {
  if (threadIdx.x) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> mine(flag[blockIdx.x]);
  int before = 0;
  if (blockIdx.x) {
    cuda::atomic_ref<int, cuda::thread_scope_device> theirs(flag[blockIdx.x - 1]);
    while (theirs.load(cuda::memory_order_acquire) == 0) {
    }
    before = value[blockIdx.x - 1];
  }
  value[blockIdx.x] = before + 1;
  mine.store(1, cuda::memory_order_release);
  if (blockIdx.x == gridDim.x - 1) *out = before + 1;
}

// A lock that the threads of a block take in turn.
__global__ void block_lock(int* out) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  for (bool done = false; !done;) {
    if (atomicCAS(&lock, 0, 1) != 0) continue;
    __threadfence_block();
    sum += 1;
    __threadfence_block();
    atomicExch(&lock, 0);
    done = true;
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}

__global__ void tiles(const int* in, int* out) {
  __shared__ int s[kThreads];
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int t = threadIdx.x;
  s[t] = in[t];
  tile.sync();
  for (int n = 4; n > 0; n /= 2) {
    const int other = s[t - t % 8 + (t % 8 + n) % 8];
    tile.sync();
    s[t] += other;
    tile.sync();
  }
  out[t] = s[t];
}

// The lanes that have something to add choose one to add it for all.
__global__ void aggregated(const int* in, int* out) {
  if (in[blockIdx.x * kThreads + threadIdx.x] % 3) return;
  const auto active = cg::coalesced_threads();
  if (active.thread_rank() == 0) atomicAdd(out, int(active.size()));
}

__global__ void shared_histogram(const int* in, int* out) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * kThreads + threadIdx.x] % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// All threads leave the loop in the same turn, which a vote decides.
__global__ void until_all_are_done(int* d) {
  __shared__ int s[kThreads];
  const int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  while (true) {
    const int left = s[(t + kThreads - 1) % kThreads];
    if (!__syncthreads_or(left > s[t])) break;
    s[t] = left > s[t] ? left : s[t];
    __syncthreads();
  }
  d[t] = s[t];
}

// Threads beyond the end leave before the first barrier.
__global__ void early_return(int* d, int n) {
  __shared__ int s[kThreads];
  const int t = threadIdx.x;
  if (t >= n) return;
  s[t] = d[t];
  __syncthreads();
  d[t] = s[n - 1 - t];
}

// Keeps the even numbers, in place. A block writes where the ones before it have read: their counts,
// which it waits for, could not be known before. No fence is needed for that.
__global__ void compact(int* d, int* counts) {
  __shared__ int first;
  const int t = threadIdx.x, value = d[blockIdx.x * kThreads + t];
  __shared__ int kept[kThreads];
  kept[t] = value % 2 == 0;
  const int count = __syncthreads_count(value % 2 == 0);
  if (t == 0) {
    int before = 0;
    if (blockIdx.x) {
      cuda::atomic_ref<int, cuda::thread_scope_device> theirs(counts[blockIdx.x - 1]);
      while ((before = theirs.load(cuda::memory_order_relaxed)) == 0) {
      }
      --before;
    }
    cuda::atomic_ref<int, cuda::thread_scope_device> mine(counts[blockIdx.x]);
    mine.store(before + count + 1, cuda::memory_order_relaxed);
    first = before;
  }
  __syncthreads();
  int at = first;
  for (int k = 0; k < t; ++k) at += kept[k];
  if (kept[t]) d[at] = value;
}

// Everybody stores the same, and a place is cleared that nobody has used yet.
__global__ void same_value(const int* in, int* out) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (in[threadIdx.x] > 5) found = 1;
  __syncthreads();
  if (threadIdx.x == 0) *out = found;
}

// The same of all blocks, in global memory: a block may come before the store of another has landed.
__global__ void all_mark(int* out) { out[threadIdx.x] = 1; }

__global__ void optimistic(float* out, const int* in) {
  auto* bits = reinterpret_cast<unsigned*>(out);
  unsigned old = *bits, seen;
  do {
    seen = old;
    const float next = fmaxf(__uint_as_float(seen), float(in[blockIdx.x * kThreads + threadIdx.x]));
    old = atomicCAS(bits, seen, __float_as_uint(next));
  } while (old != seen);
}

__global__ void transpose(const int* in, int* out) {
  __shared__ int tile[32][33];
  for (int y = threadIdx.x / 32; y < 32; y += kThreads / 32) tile[y][threadIdx.x % 32] = in[y * 32 + threadIdx.x % 32];
  __syncthreads();
  for (int y = threadIdx.x / 32; y < 32; y += kThreads / 32) out[y * 32 + threadIdx.x % 32] = tile[threadIdx.x % 32][y];
}

int wrong = 0;
void expect(const char* name, const int* at, int count, long want) {
  std::vector<int> host(static_cast<size_t>(count));
  cudaMemcpy(host.data(), at, host.size() * sizeof(int), cudaMemcpyDeviceToHost);
  long sum = 0;
  for (size_t k = 0; k < host.size(); ++k) sum += host[k] * long(k % 7 + 1);
  if (sum == want) return;
  std::printf("%s: %ld, not %ld\n", name, sum, want);
  ++wrong;
}

int main() {
  std::vector<int> host(kSize);
  for (int k = 0; k < kSize; ++k) host[size_t(k)] = k * 7 % 101;
  int *in, *a, *b, *c;
  for (int** p : {&in, &a, &b, &c}) cudaMalloc(p, kSize * sizeof(int));
  cudaMemcpy(in, host.data(), kSize * sizeof(int), cudaMemcpyHostToDevice);
  const auto weighed = [](const std::vector<int>& values) {
    long sum = 0;
    for (size_t k = 0; k < values.size(); ++k) sum += values[k] * long(k % 7 + 1);
    return sum;
  };
  const auto clear = [&] {
    for (int* p : {a, b, c}) cudaMemset(p, 0, kSize * sizeof(int));
  };
  std::vector<int> rows(kThreads), halves(kThreads / 2), eights(kThreads), bins(16), turned(kSize);
  int odd = 0, threes = 0, most = 0;
  for (int k = 0; k < kSize; ++k) {
    const int x = host[size_t(k)];
    rows[size_t(kThreads - 1 - k % kThreads)] += x;
    halves[size_t(kThreads / 2 - 1 - k % (kThreads / 2))] += x;
    if (k < kThreads)
      for (int m = 0; m < 8; ++m) eights[size_t(k)] += host[size_t(k - k % 8 + m)];
    ++bins[size_t(x % 16)];
    turned[size_t(k % 32 * 32 + k / 32)] = x;
    odd += x & 1, threes += x % 3 == 0, most = x > most ? x : most;
  }
  const auto run = [&](const char* name, const int* at, const std::vector<int>& want, auto launch) {
    clear();
    launch();
    expect(name, at, int(want.size()), weighed(want));
  };
  auto* counter = reinterpret_cast<unsigned*>(b);
  run("double_buffer", a, rows, [&] { double_buffer<<<1, kThreads>>>(in, a); });
  run("pipeline", a, rows, [&] { pipeline<<<1, kThreads>>>(in, a); });
  run("producers", a, halves, [&] { producers<<<1, kThreads>>>(in, a); });
  run("phases", a, rows, [&] { phases<<<1, kThreads>>>(in, a); });
  run("last_block", a, {odd}, [&] { last_block<<<kBlocks, kThreads>>>(in, c, counter, a); });
  run("flags", a, {kBlocks}, [&] { flags<<<kBlocks, 32>>>(b, c, a); });
  run("acquire_release", a, {kBlocks}, [&] { acquire_release<<<kBlocks, 32>>>(b, c, a); });
  run("block_lock", a, {kThreads}, [&] { block_lock<<<1, kThreads>>>(a); });
  run("tiles", a, eights, [&] { tiles<<<1, kThreads>>>(in, a); });
  run("aggregated", a, {threes}, [&] { aggregated<<<kBlocks, kThreads>>>(in, a); });
  run("shared_histogram", a, bins, [&] { shared_histogram<<<kBlocks, kThreads>>>(in, a); });
  run("until_all_are_done", a, std::vector<int>(kThreads, kThreads - 1),
      [&] { until_all_are_done<<<1, kThreads>>>(a); });
  run("early_return", a, std::vector<int>(100, 0), [&] { early_return<<<1, kThreads>>>(a, 100); });
  std::vector<int> even;
  for (const int x : host)
    if (x % 2 == 0) even.push_back(x);
  run("compact", a, even, [&] {
    cudaMemcpy(a, in, kSize * sizeof(int), cudaMemcpyDeviceToDevice);
    compact<<<kBlocks, kThreads>>>(a, b);
  });
  run("same_value", a, {1}, [&] { same_value<<<1, kThreads>>>(in, a); });
  run("all_mark", a, std::vector<int>(kSize, 1), [&] {
    for (int k = 0; k < 200; ++k) {
      cudaMemset(a, 0, kSize * sizeof(int));
      all_mark<<<2, kSize>>>(a);
    }
  });
  const float largest = float(most);
  int bits = 0;
  static_assert(sizeof bits == sizeof largest);
  memcpy(&bits, &largest, sizeof bits);
  run("optimistic", a, {bits}, [&] { optimistic<<<kBlocks, kThreads>>>(reinterpret_cast<float*>(a), in); });
  run("transpose", a, turned, [&] { transpose<<<1, kThreads>>>(in, a); });
  for (int* p : {in, a, b, c}) cudaFree(p);
  return wrong;
}
