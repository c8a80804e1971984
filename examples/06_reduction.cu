// 06_reduction: one number from millions, level by level: thread, warp, block, grid.
//
// Each level talks through the fastest thing it has: a thread through a register, a warp through
// shuffles (lane reads lane's register), a block through shared memory, the grid through an atomic.
// Of a million additions, only a few hundred are atomic.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "common/args.h"
#include "common/check.h"

constexpr int kWarp = 32;
constexpr int kBlock = 256;
constexpr int kWarpsPerBlock = kBlock / kWarp;
constexpr int kBlocksPerSm = 4;  // enough warps in flight to keep memory busy while others wait
constexpr unsigned kAllLanes = 0xffffffffu;

// After the step with `offset`, a lane holds the sum of twice as many lanes. Lane 0 ends with all.
__device__ float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_down_sync(kAllLanes, value, offset);
  }
  return value;
}

__global__ void sum(const float* in, int n, float* total) {
  __shared__ float warp_totals[kWarpsPerBlock];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;

  // Thread: strides by the whole grid, so that in each step neighbours read neighbours.
  float value = 0.0f;
  const int stride = gridDim.x * kBlock;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += stride) value += in[i];

  // Warp: 5 shuffles.
  value = warp_sum(value);
  if (lane == 0) warp_totals[warp] = value;
  __syncthreads();

  // Block: the first warp adds what the warps left. All 32 lanes take part in the shuffles, as
  // their mask promises; those without a warp bring 0.
  if (warp == 0) {
    value = warp_sum(lane < kWarpsPerBlock ? warp_totals[lane] : 0.0f);
    // Grid: one atomic per block.
    if (lane == 0) atomicAdd(total, value);
  }
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"n", 3000017, 1, 1 << 28}});
  const int n = args.size(0);
  std::vector<float> in(n);
  std::mt19937 random(1);
  for (float& value : in) value = float(random() >> 8) * 0x1p-24f;  // [0, 1)

  int sms = 0;  // streaming multiprocessors: the device's cores
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const int blocks = std::min(ceil_div(n, kBlock), sms * kBlocksPerSm);

  float *device_in = nullptr, *device_total = nullptr;  // (n), (1)
  CHECK(cudaMalloc(&device_in, n * sizeof(float)));
  CHECK(cudaMalloc(&device_total, sizeof(float)));
  CHECK(cudaMemcpy(device_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(device_total, 0, sizeof(float)));  // atomics add to it: it must start at 0
  sum<<<blocks, kBlock>>>(device_in, n, device_total);
  CHECK(cudaGetLastError());
  float total = 0.0f;
  CHECK(cudaMemcpy(&total, device_total, sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_total));

  double want = 0.0;
  float one_by_one = 0.0f;
  for (float value : in) {
    want += value;  // the inputs are positive, so this is also the sum of magnitudes
    one_by_one += value;
  }
  // Every addition rounds once. A number passes through at most this many additions: those of
  // its thread, two trees of 5 levels, and one atomic per block.
  const int additions = ceil_div(n, blocks * kBlock) + 2 * 5 + blocks;
  const double tolerance = additions * std::ldexp(1.0, -24) * want;
  if (!is_close(total, want, tolerance)) {
    return fail("the sum is %.9g, expected %.9g within %.2g", total, want, tolerance);
  }
  printf("summed %d numbers with %d blocks of %d threads, and %d atomic additions\n", n, blocks,
         kBlock, blocks);
  printf("  in double, one by one     %.3f\n", want);
  printf("  in float, as a tree       %.3f  off by %.3f, allowed %.3f\n", total,
         std::fabs(total - want), tolerance);
  printf("  in float, one by one      %.3f  off by %.3f\n", one_by_one,
         std::fabs(one_by_one - want));
  return 0;
}
