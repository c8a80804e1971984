// If the rows are cut into slices, each slice has its own sums. Here they are stored and added.
#pragma once

#include "device/lanes.cuh"
#include "kernels/gemv/finish.cuh"
#include "kernels/gemv_t/gemv_t.h"

namespace ridge::gemv_t {

// A single slice writes to y. Several slices write to the workspace, for gemv_t_combine.
template <class T>
__device__ __forceinline__ void put_sum(const Args& args, int64_t col, float sum) {
  if (gridDim.y == 1) gemv::finish<T>(args, col, sum);
  else static_cast<float*>(args.workspace)[blockIdx.y * args.cols + col] = sum;
}

// A block adds the slices of 32 columns. Each of its warps adds some of the slices, always the same
// ones, so that the order is fixed.
constexpr int kCombineWarps = 32;
template <class T>
__global__ void __launch_bounds__(kCombineWarps* kWarpSize) gemv_t_combine(Args args, int slices) {
  __shared__ float sums[kCombineWarps][kWarpSize];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int64_t col = int64_t(blockIdx.x) * kWarpSize + lane;
  const float* const partial = static_cast<const float*>(args.workspace);  // (slices, cols)
  float sum = 0;
  if (col < args.cols) {
#pragma unroll 4
    for (int s = warp; s < slices; s += kCombineWarps) sum += partial[s * args.cols + col];
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || col >= args.cols) return;
  float total = 0;
#pragma unroll
  for (int w = 0; w < kCombineWarps; ++w) total += sums[w][lane];
  gemv::finish<T>(args, col, total);
}

template <class T>
Status combine(const Args& a, int64_t slices, cudaStream_t stream) {
  gemv_t_combine<T>
      <<<unsigned((a.cols + kWarpSize - 1) / kWarpSize), kCombineWarps * kWarpSize, 0, stream>>>(
          a, int(slices));
  return launch_status();
}

}  // namespace ridge::gemv_t
