// The kernel of all rungs of occupancy_vs_ilp: Chains chains per thread, and how many warps each SM
// may have.
#pragma once

#include "kernels/occupancy_vs_ilp/occupancy_vs_ilp.h"

namespace ridge::occupancy_vs_ilp {

constexpr int kThreads = 128;  // four warps: one for each of an SM's schedulers
constexpr int kSteps = 8;      // a turn of the loop

template <int Chains>
__global__ void __launch_bounds__(kThreads) fma_chains(Args a) {
  const int64_t first = int64_t(blockIdx.x) * (kThreads * Chains) + threadIdx.x;
  float x[Chains], y[Chains];
#pragma unroll
  for (int c = 0; c < Chains; ++c) {
    const int64_t i = first + c * kThreads;
    x[c] = i < a.n ? a.x[i] : 0.0f;
    y[c] = 0;
  }
  int step = 0;
  for (; step + kSteps <= a.steps; step += kSteps)
#pragma unroll
    for (int s = 0; s < kSteps; ++s)
#pragma unroll
      for (int c = 0; c < Chains; ++c) y[c] = fmaf(y[c], 0.5f, x[c]);
#pragma unroll 1
  for (; step < a.steps; ++step)
#pragma unroll
    for (int c = 0; c < Chains; ++c) y[c] = fmaf(y[c], 0.5f, x[c]);
#pragma unroll
  for (int c = 0; c < Chains; ++c) {
    const int64_t i = first + c * kThreads;
    if (i < a.n) a.y[i] = y[c];
  }
}

// One block per SM: it takes more than half of the shared memory, and leaves it unused.
enum class Occupancy { one_warp_a_scheduler, full };

template <int Chains, Occupancy occupancy>
Status launch_chains(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  constexpr int64_t kChains = int64_t(kThreads) * Chains;
  const auto kernel = fma_chains<Chains>;
  int shared = 0;
  if (occupancy == Occupancy::one_warp_a_scheduler) {
    shared = device.shared_per_block_optin / 2 + 2048;
    (void)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  }
  kernel<<<unsigned((a.n + kChains - 1) / kChains), kThreads, size_t(shared), stream>>>(a);
  return launch_status();
}
constexpr Support takes(const Args& a) { return a.dtype == Dtype::f32 ? kSupported : "takes f32"; }

}  // namespace ridge::occupancy_vs_ilp
