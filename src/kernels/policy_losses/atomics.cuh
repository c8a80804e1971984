// One thread per element, which adds to the losses by itself.
#pragma once

#include "kernels/policy_losses/elements.cuh"

namespace ridge::policy_losses::atomics {

constexpr int kThreads = 256;

static __global__ void policy_losses_zero(float* losses, int count) {
  if (int(threadIdx.x) < count) losses[threadIdx.x] = 0;
}
template <Op op, class T, class Math>
__global__ void __launch_bounds__(kThreads) policy_losses_atomics(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.rows * a.cols) return;
  float sums[kMostSums] = {};
  const int64_t row = i / a.cols;
  add_element<op, T, Math>(a, i, row, weight_of(a, i, row), sums);
#pragma unroll
  for (int s = 0; s < kSums<op>; ++s) atomicAdd(&a.losses[s], sums[s]);
}

template <class Math>
Status launch(const Args& a, cudaStream_t stream) {
  policy_losses_zero<<<1, kWarpSize, 0, stream>>>(a.losses, sums_of(a.op));
  if (const Status s = launch_count(a, stream); !s || a.rows * a.cols == 0) return s;
  return with_type_and_op(a, [&](auto t, auto op) {
    const int64_t blocks = (a.rows * a.cols + kThreads - 1) / kThreads;
    policy_losses_atomics<op.value, decltype(t), Math>
        <<<unsigned(blocks), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
inline size_t workspace(const Args& a, const DeviceInfo&) { return weight_bytes(a); }

}  // namespace ridge::policy_losses::atomics
