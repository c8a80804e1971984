// The gradients of w and bias: each block leaves the sums of its segment in the workspace, and a
// second kernel adds those of a channel, always in the same order.
#pragma once

#include "kernels/causal_conv1d/row.cuh"

namespace ridge::causal_conv1d {

constexpr int kMostSums = kMostWidth + 1;  // of a channel: width of dw, then dbias

inline size_t partials_bytes(const Args& a, int elements) {
  if (!a.backward) return 0;
  return size_t(a.rows()) * size_t(segments(a, elements)) * size_t(a.width + 1) * sizeof(float);
}

// The sums of a block, in its first `kWidth + 1` threads. All threads take part.
template <int kThreads, int kWidth>
__device__ __forceinline__ float block_sums(float (&sums)[kWidth + 1],
                                            float (&shared)[kWidth + 1][kThreads / 32]) {
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
#pragma unroll
  for (int k = 0; k <= kWidth; ++k) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sums[k] += __shfl_xor_sync(0xffffffffu, sums[k], step);
    if (lane == 0) shared[k][warp] = sums[k];
  }
  __syncthreads();
  float sum = 0;
  if (threadIdx.x <= kWidth)
    for (int w = 0; w < kThreads / 32; ++w) sum += shared[threadIdx.x][w];
  return sum;
}

// One block per channel: from (batch, channel, segment, sum) to dw and dbias.
constexpr int kFinishThreads = 128;
template <int kWidth>
__global__ void __launch_bounds__(kFinishThreads)
    causal_conv1d_finish(Args a, int64_t segments_of_row) {
  __shared__ float shared[kWidth + 1][kFinishThreads / 32];
  const int64_t channel = blockIdx.x, count = a.batch * segments_of_row;
  float sums[kWidth + 1] = {};
  for (int64_t i = threadIdx.x; i < count; i += kFinishThreads) {
    const int64_t row = i / segments_of_row * a.channels + channel;
    const float* const from = static_cast<const float*>(a.workspace) +
                              (row * segments_of_row + i % segments_of_row) * (kWidth + 1);
#pragma unroll
    for (int k = 0; k <= kWidth; ++k) sums[k] += from[k];
  }
  const float sum = block_sums<kFinishThreads, kWidth>(sums, shared);
  if (threadIdx.x < kWidth) a.dw[channel * kWidth + threadIdx.x] = sum;
  else if (threadIdx.x == kWidth) a.dbias[channel] = sum;
}

template <int kWidth>
void launch_finish(const Args& a, int elements, cudaStream_t stream) {
  causal_conv1d_finish<kWidth>
      <<<unsigned(a.channels), kFinishThreads, 0, stream>>>(a, segments(a, elements));
}

}  // namespace ridge::causal_conv1d
