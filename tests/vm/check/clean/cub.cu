// CUB's block, warp and device primitives: nothing of theirs is a hazard, not even the decoupled
// look-back of the scan and the sort, in which blocks wait for each other.
#include <cstdio>
#include <numeric>
#include <vector>

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

constexpr int kThreads = 128, kItems = 4, kBlocks = 4;

__global__ void reduce(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  __shared__ typename Reduce::TempStorage memory;
  const int sum = Reduce(memory).Sum(in[blockIdx.x * kThreads + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void scan(const int* in, int* out) {
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Scan::TempStorage memory;
  int value = in[blockIdx.x * kThreads + threadIdx.x];
  Scan(memory).InclusiveSum(value, value);
  out[blockIdx.x * kThreads + threadIdx.x] = value;
}

__global__ void sort(const int* in, int* out) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Store::TempStorage store;
  } memory;
  int keys[kItems];
  Load(memory.load).Load(in + blockIdx.x * kThreads * kItems, keys);
  __syncthreads();
  Sort(memory.sort).Sort(keys);
  __syncthreads();
  Store(memory.store).Store(out + blockIdx.x * kThreads * kItems, keys);
}

__global__ void exchange(const int* in, int* out) {
  using Exchange = cub::BlockExchange<int, kThreads, kItems>;
  __shared__ typename Exchange::TempStorage memory;
  int items[kItems];
  for (int k = 0; k < kItems; ++k) items[k] = in[threadIdx.x * kItems + k];
  Exchange(memory).BlockedToStriped(items);
  for (int k = 0; k < kItems; ++k) out[threadIdx.x + k * kThreads] = items[k];
}

__global__ void warps(const int* in, int* out) {
  using Reduce = cub::WarpReduce<int>;
  using Scan = cub::WarpScan<int>;
  __shared__ typename Reduce::TempStorage sums[kThreads / 32];
  __shared__ typename Scan::TempStorage scans[kThreads / 32];
  const int warp = threadIdx.x / 32, sum = Reduce(sums[warp]).Sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) out[warp] = sum;
  int before;
  Scan(scans[warp]).ExclusiveSum(in[threadIdx.x], before);
  out[32 + threadIdx.x] = before;
}

template <class Call>
void with_memory(Call call) {
  size_t bytes = 0;
  call(nullptr, bytes);
  void* memory;
  cudaMalloc(&memory, bytes);
  call(memory, bytes);
  cudaFree(memory);
}

int main() {
  const int n = 30000;
  std::vector<int> host(n), wanted(n);
  for (int i = 0; i < n; ++i) host[i] = i * 7919 % 1000;
  std::partial_sum(host.begin(), host.end(), wanted.begin());
  int *in, *out;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  reduce<<<kBlocks, kThreads>>>(in, out);
  scan<<<kBlocks, kThreads>>>(in, out);
  sort<<<kBlocks, kThreads>>>(in, out);
  exchange<<<1, kThreads>>>(in, out);
  warps<<<1, kThreads>>>(in, out);
  with_memory([&](void* m, size_t& bytes) { cub::DeviceReduce::Sum(m, bytes, in, out, n); });
  with_memory([&](void* m, size_t& bytes) { cub::DeviceScan::InclusiveSum(m, bytes, in, out, n); });
  cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  const bool right = host == wanted && cudaGetLastError() == cudaSuccess;
  std::printf("%s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
