// Rows that stay in the registers of those who share them: how many threads take a row, with how
// many packs each, and what a grid of such rows costs. Measured with softmax on an H200; whoever
// holds a row has the same choice.
#pragma once

#include <algorithm>
#include <cmath>

#include "device/from_detail.cuh"
#include "device/lanes.cuh"

namespace ridge::held {

// Threads of a block, packs of a thread; of two tensors, half as many of each.
constexpr int kThreadsNarrow = 128, kPacksNarrow = 4;  // where lanes of a warp share a row
constexpr int kThreads = 1024, kPacks = 8;             // 64 registers
// Packs of each tensor that one thread holds where rows are wide: with 128 registers, all but
// thirty of them packs. An SM has room for 512 such threads, and so for two rows of 6400 packs.
constexpr int kPacksDeep = 25, kThreadsDeep = 256;
constexpr int kRegisters = 65536;  // of an SM

constexpr int deep_packs(int tensors) { return kPacksDeep / tensors; }
constexpr bool is_deep(int tensors, int packs) { return packs == deep_packs(tensors); }
// Of a kernel with one block per row.
constexpr int threads_bound(int tensors, int packs) {
  return is_deep(tensors, packs) ? 2 * kThreadsDeep : kThreads;
}

// How a row is shared.
struct Plan {
  int lanes;  // none: too wide
  int packs;  // of each tensor
  int rows_per_sm(int tensors) const {
    return kRegisters / (is_deep(tensors, packs) ? 128 : 64) / lanes;
  }
};
inline Plan plan_for(int64_t slots, int tensors) {
  const auto lanes_for = [&](int packs) {  // whole warps
    return int((slots + packs * kWarpSize - 1) / (packs * kWarpSize)) * kWarpSize;
  };
  for (int lanes = 4; lanes <= kWarpSize; lanes *= 2) {
    if (slots <= lanes * 2) return {lanes, 2};
    if (slots <= lanes * kPacksNarrow) return {lanes, kPacksNarrow};
  }
  const int packs = kPacks / tensors, fewer = packs * 3 / 4, deep = deep_packs(tensors);
  if (slots > 2 * kThreadsDeep * deep) return {0, 0};
  const bool is_alone = slots > kThreads / 2 * packs;
  if (is_alone && (slots <= kThreadsDeep * deep || slots > kThreads * packs))
    return {lanes_for(deep), deep};
  // Of what is past the row's end nothing is loaded, but it is computed with.
  if (!is_alone && lanes_for(fewer) <= kThreads / 2 &&
      lanes_for(fewer) * fewer < lanes_for(packs) * packs)
    return {lanes_for(fewer), fewer};
  return {lanes_for(packs), packs};
}

// Calls f(std::integral_constant<int, packs>(), std::bool_constant<lanes share a warp>()) with the
// plan's numbers, so that f can name its kernel.
template <int Tensors, class F>
auto with_plan(const Plan& plan, F f) {
  constexpr int kMost = kPacks / Tensors, kFewer = kMost * 3 / 4, kDeep = deep_packs(Tensors);
  const auto call = [&](auto packs, auto narrow) { return f(packs, narrow); };
  using std::integral_constant;
  if (plan.lanes <= kWarpSize) {
    if (plan.packs == 2) return call(integral_constant<int, 2>(), std::true_type());
    if (plan.packs == kPacksNarrow || Tensors > 1)
      return call(integral_constant<int, kPacksNarrow>(), std::true_type());
    if (plan.packs == kMost) return call(integral_constant<int, kMost>(), std::true_type());
    return call(integral_constant<int, std::max(kFewer, kPacksNarrow)>(), std::true_type());
  }
  if (plan.packs == kDeep) return call(integral_constant<int, kDeep>(), std::false_type());
  if (plan.packs == kMost) return call(integral_constant<int, kMost>(), std::false_type());
  return call(integral_constant<int, kFewer>(), std::false_type());
}

// Shapes of clusters: as few blocks as can hold the row, two in an SM, because the fewer there are,
// the sooner they meet.
constexpr int kPortable = 8, kMostBlocks = 16;  // a cluster, without and with leave
struct ClusterShape {
  int threads, blocks;  // none: too wide
  int packs;
};
inline ClusterShape cluster_shape_for(int64_t slots, int tensors) {
  const int64_t packs = deep_packs(tensors), a_block = kThreadsDeep * packs;
  const int64_t blocks = std::clamp<int64_t>((slots + a_block - 1) / a_block, 2, kMostBlocks);
  const int64_t a_warp = blocks * packs * kWarpSize;
  const int threads = int(std::max<int64_t>((slots + a_warp - 1) / a_warp, 1) * kWarpSize);
  return threads <= 2 * kThreadsDeep ? ClusterShape{threads, int(blocks), int(packs)}
                                     : ClusterShape{0, 0, 0};
}

// Rows of one tensor that are about whole SMs have them: the most threads, with eight packs each,
// which is the most that an SM has under way at once.
constexpr int kThreadsFull = 1024, kPacksFull = 8;
constexpr double kLeastFull = 0.9;  // of that, to be worth having no second block on the SM
inline ClusterShape full_cluster_shape_for(int64_t slots) {
  constexpr int64_t kFull = kThreadsFull * kPacksFull;
  const int64_t whole = (slots + kFull - 1) / kFull;
  if (whole < 2 || whole > kMostBlocks || double(slots) < kLeastFull * double(whole * kFull))
    return cluster_shape_for(slots, 1);
  const int64_t a_warp = whole * kPacksFull * kWarpSize;
  return {int((slots + a_warp - 1) / a_warp) * kWarpSize, int(whole), kPacksFull};
}

// Launches kernel(args) with one cluster per row.
template <class Args>
Status launch_cluster(void (*kernel)(Args), Args args, int64_t rows, const ClusterShape& shape,
                      cudaStream_t stream) {
  if (shape.blocks > kPortable)
    if (const cudaError_t error =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        error != cudaSuccess)
      return Error{int(error), "no clusters of 16 blocks"};
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {unsigned(shape.blocks), 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(unsigned(rows * shape.blocks));
  config.blockDim = dim3(unsigned(shape.threads));
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  void* parameters[] = {&args};
  (void)cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), parameters);
  return launch_status();
}

// The same pack, but the compiler cannot know that. Otherwise it would keep the f32 of two-byte
// numbers from one pass to the other, which takes twice the registers of their packs, and spill.
// Blocks are one thread deep, so nothing changes.
template <class T>
__device__ __forceinline__ Pack<T> seen_anew(Pack<T> pack) {
  if constexpr (sizeof(T) == 2) {
#pragma unroll
    for (int i = 0; i < 4; ++i) pack.words[i] ^= blockDim.z - 1;
  }
  return pack;
}

}  // namespace ridge::held
