// policy_losses rung 03, one_pass: each thread adds up its elements, each block leaves one sum.
//
// Since 02_in_logs: no atomics. As many blocks as the device holds go over the elements, and a last
//   block adds up what they left, always in the same order. Each thread has the loads of up to
//   seven tensors under way.
// Stops at: launches, two or three of them, up to some hundred thousand elements; then at HBM.
// Not for: counting a mask of many millions of elements: one block does that.
#include "kernels/policy_losses/elements.cuh"

namespace ridge::policy_losses::one_pass {

constexpr int kThreads = 256, kWarps = kThreads / kWarpSize;
constexpr int kBlocksPerSm = 8;
constexpr Tuned kTuned = {6.0, 0.7};  // not measured

// The sums of a block; thread 0 gets them.
template <int Sums>
__device__ __forceinline__ void block_sums(float (&sums)[kMostSums]) {
  __shared__ float partials[kMostSums][kWarps];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
#pragma unroll
  for (int s = 0; s < Sums; ++s) {
    const float sum = lanes_sum(sums[s], kWarpSize);
    if (lane == 0) partials[s][warp] = sum;
  }
  __syncthreads();
#pragma unroll
  for (int s = 0; s < Sums; ++s) {
    sums[s] = 0;
    for (int w = 0; w < kWarps; ++w) sums[s] += partials[s][w];
  }
}

template <Op op, class T>
__global__ void __launch_bounds__(kThreads) policy_losses_one_pass(Args a, float* partials) {
  const int64_t count = a.rows * a.cols, step = int64_t(gridDim.x) * kThreads;
  float sums[kMostSums] = {};
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step) {
    const int64_t row = op == Op::grpo ? int64_t(unsigned(i) / unsigned(a.cols)) : 0;
    add_element<op, T, InLogs>(a, i, row, weight_of(a, i, row), sums);
  }
  block_sums<kSums<op>>(sums);
  if (threadIdx.x > 0) return;
#pragma unroll
  for (int s = 0; s < kSums<op>; ++s) partials[s * gridDim.x + blockIdx.x] = sums[s];
}
template <int Sums>
__global__ void __launch_bounds__(kThreads)
    policy_losses_add(Args a, const float* partials, int blocks) {
  float sums[kMostSums] = {};
  for (int b = threadIdx.x; b < blocks; b += kThreads)
#pragma unroll
    for (int s = 0; s < Sums; ++s) sums[s] += partials[s * blocks + b];
  block_sums<Sums>(sums);
  if (threadIdx.x > 0) return;
#pragma unroll
  for (int s = 0; s < Sums; ++s) a.losses[s] = sums[s];
}

static int blocks_of(const Args& a, const DeviceInfo& device) {
  const int64_t all = (a.rows * a.cols + kThreads - 1) / kThreads;
  return int(std::min<int64_t>(all, int64_t(kBlocksPerSm) * device.sm_count));
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return weight_bytes(a) + size_t(blocks_of(a, device)) * kMostSums * sizeof(float);
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (const Status s = launch_count(a, stream); !s) return s;
  float* const partials =
      reinterpret_cast<float*>(static_cast<char*>(a.workspace) + weight_bytes(a));
  const int blocks = blocks_of(a, device);
  return with_type_and_op(a, [&](auto t, auto op) {
    if (blocks > 0)
      policy_losses_one_pass<op.value, decltype(t)>
          <<<unsigned(blocks), kThreads, 0, stream>>>(a, partials);
    policy_losses_add<kSums<op.value>><<<1, kThreads, 0, stream>>>(a, partials, blocks);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "sums of threads, then of blocks: no atomics",
                             .supports = supports_any,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.barriers = 1, .conflict_free = true}};

}  // namespace ridge::policy_losses::one_pass
