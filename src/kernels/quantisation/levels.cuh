// Scales of scales, from the largest magnitudes of all blocks in the workspace: few numbers, so all
// rungs do this alike, in small kernels.
#pragma once

#include "kernels/quantisation/maxima.cuh"

namespace ridge::quantisation {

constexpr int kLevelThreads = 256;  // as many as a group has scales
static_assert(kLevelThreads == kGroup);

namespace levels {

__global__ void __launch_bounds__(kLevelThreads) tensor_maximum(Args a, Maxima m) {
  const int64_t block = int64_t(blockIdx.x) * kLevelThreads + threadIdx.x;
  uint32_t bits = block < a.blocks.count ? m.blocks[block] : 0;
  if (bits >= kInfinityBits) bits = 0;  // a block that is not finite does not count
  bits = lanes_max_bits(bits, kWarpSize);
  if (threadIdx.x % kWarpSize == 0 && bits) atomicMax(m.tensor, bits);
}

// One thread per block of elements.
__global__ void __launch_bounds__(kLevelThreads) store_scales(Args a, Maxima m) {
  const int64_t block = int64_t(blockIdx.x) * kLevelThreads + threadIdx.x;
  float tensor_scale = 0;
  if (a.rule == Rule::shared) {
    tensor_scale = a.is_given ? a.second[0] : tensor_scale_of(a, __uint_as_float(m.tensor[0]));
    if (block == 0 && !a.is_given) a.second[0] = tensor_scale;
  }
  if (block < a.blocks.count) make_scale(a, block, amax_of(m.blocks[block]), tensor_scale, true);
}

// The sum of 256 numbers, in halves: the definition of the mean says in which order.
__device__ __forceinline__ double tree_sum(double mine, double (&shared)[kGroup]) {
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int half = kGroup / 2; half > 0; half /= 2) {
    if (int(threadIdx.x) < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  const double sum = shared[0];
  __syncthreads();
  return sum;
}

// One thread block per group: the sum of its scales that are numbers, and how many they are.
__global__ void __launch_bounds__(kGroup) sum_groups(Args a, Maxima m) {
  __shared__ double shared[kGroup];
  const int64_t block = int64_t(blockIdx.x) * kGroup + threadIdx.x;
  const uint32_t bits = block < a.blocks.count ? m.blocks[block] : kNanBits;
  const bool counts = bits < kInfinityBits;
  const double sum = tree_sum(counts ? double(__uint_as_float(bits)) : 0, shared);
  const double count = tree_sum(counts, shared);
  if (threadIdx.x == 0) m.sums[blockIdx.x] = sum, m.counts[blockIdx.x] = count;
}
// Group g belongs to place g % 256.
__global__ void __launch_bounds__(kGroup) find_mean(Args a, Maxima m) {
  __shared__ double shared[kGroup];
  const int64_t groups = (a.blocks.count + kGroup - 1) / kGroup;
  double sum = 0, count = 0;
  for (int64_t g = threadIdx.x; g < groups; g += kGroup) sum += m.sums[g], count += m.counts[g];
  sum = tree_sum(sum, shared);
  count = tree_sum(count, shared);
  if (threadIdx.x == 0) a.mean[0] = count > 0 ? float(sum / count) : 0;
}
__global__ void __launch_bounds__(kGroup) store_around_mean(Args a, Maxima m) {
  __shared__ uint32_t most;
  const int64_t block = int64_t(blockIdx.x) * kGroup + threadIdx.x;
  const float amax = amax_of(block < a.blocks.count ? m.blocks[block] : kNanBits);
  const float rest = amax - a.mean[0];
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  const uint32_t bits = magnitude_bits(rest);
  const uint32_t warp = lanes_max_bits(bits < kInfinityBits ? bits : 0, kWarpSize);
  if (threadIdx.x % kWarpSize == 0) atomicMax(&most, warp);
  __syncthreads();
  const float second = __uint_as_float(most) / 448;  // the largest e4m3
  if (threadIdx.x == 0) a.second[blockIdx.x] = second;
  if (block < a.blocks.count)
    static_cast<uint8_t*>(a.scales)[block] =
        uint8_t(narrow<Dtype::e4m3>(second == 0 && rest == rest ? 0 : rest / second));
}

}  // namespace levels

inline unsigned level_blocks(const Args& a) {
  return unsigned((a.blocks.count + kLevelThreads - 1) / kLevelThreads);
}
// Rule::mean: the scales from the maxima of all blocks.
inline void launch_around_mean(const Args& a, cudaStream_t stream) {
  const Maxima m = maxima_in(a);
  levels::sum_groups<<<level_blocks(a), kGroup, 0, stream>>>(a, m);
  levels::find_mean<<<1, kGroup, 0, stream>>>(a, m);
  levels::store_around_mean<<<level_blocks(a), kGroup, 0, stream>>>(a, m);
}
// Any rule.
inline void launch_scales(const Args& a, cudaStream_t stream) {
  const Maxima m = maxima_in(a);
  if (a.rule == Rule::mean) return launch_around_mean(a, stream);
  if (a.rule == Rule::shared && !a.is_given)
    levels::tensor_maximum<<<level_blocks(a), kLevelThreads, 0, stream>>>(a, m);
  if (a.rule != Rule::ratio || !a.is_given)
    levels::store_scales<<<level_blocks(a), kLevelThreads, 0, stream>>>(a, m);
}

}  // namespace ridge::quantisation
