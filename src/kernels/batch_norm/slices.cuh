// A channel that several blocks share: each leaves what it has seen of its slice in the workspace,
// a second launch merges the slices of each channel, always in the same order, and a third passes
// over the elements.
#pragma once

#include <algorithm>

#include "kernels/batch_norm/channels.cuh"

namespace ridge::batch_norm {

constexpr int kSliceThreads = 256;
constexpr int kBlocksPerSm = 4;

// How the work is cut: a tile is `width` groups of neighbouring channels (with channels last, the
// lanes of a load have one each; otherwise 1), and its elements are cut into slices.
struct Slices {
  int width;
  int64_t tiles;
  int64_t length, count;  // of a slice, in steps along the channel; how many there are

  // `groups` of channels, `steps` along each; a thread has `turn` steps at a time.
  Slices(int64_t groups, int64_t steps, bool channels_last, int turn, const DeviceInfo& device)
      : width(1) {
    while (channels_last && width < kWarpSize && width < groups) width *= 2;
    tiles = (groups + width - 1) / width;
    const int64_t wanted = std::max<int64_t>(int64_t(device.sm_count) * kBlocksPerSm / tiles, 1);
    const int64_t of_block = int64_t(turn) * kSliceThreads / width;
    length = (steps + wanted - 1) / wanted;
    length = std::max<int64_t>((length + of_block - 1) / of_block * of_block, of_block);
    count = (steps + length - 1) / length;
  }
  dim3 grid() const { return dim3(unsigned(tiles), unsigned(count)); }
};

// In the workspace: lines (channels), then partials (slices, channels). A partial is a triple of
// moments or a pair of sums.
struct Memory {
  Line* lines;
  float4* partials;

  explicit Memory(const Args& a)
      : lines(static_cast<Line*>(a.workspace)),
        partials(reinterpret_cast<float4*>(lines + a.channels)) {}
  static size_t bytes(const Args& a, int64_t slices) {
    return size_t(a.channels * (slices + 1)) * sizeof(float4);
  }
};
__device__ __forceinline__ float4 packed(const Moments& m) { return {m.count, m.mean, m.m2, 0}; }
__device__ __forceinline__ float4 packed(const Sums& s) { return {s.dy, s.product, 0, 0}; }
__device__ __forceinline__ void unpack(const float4& from, Moments& to) {
  to = {from.x, from.y, from.z};
}
__device__ __forceinline__ void unpack(const float4& from, Sums& to) { to = {from.x, from.y}; }

// Moments or sums: what a pass over the channels makes.
template <bool kBackward>
using TotalOf = std::conditional_t<kBackward, Sums, Moments>;

// One warp per channel merges its slices and makes its line. In inference there are none to merge.
constexpr int kLineWarps = 4;
template <class T>
__global__ void __launch_bounds__(kLineWarps* kWarpSize)
    batch_norm_lines(Args a, Memory memory, int slices) {
  const int lane = threadIdx.x % kWarpSize;
  const int64_t c = int64_t(blockIdx.x) * kLineWarps + threadIdx.x / kWarpSize;
  if (c >= a.channels) return;  // the whole warp
  Line line;
  const auto all = [&](auto mine) {
    for (int s = lane; s < slices; s += kWarpSize) {
      decltype(mine) more;
      unpack(memory.partials[int64_t(s) * a.channels + c], more);
      mine = merged(mine, more);
    }
    return lanes_merge(mine);
  };
  if (a.op == Op::infer) line = inference_line<T>(a, c);
  else if (a.op == Op::train) line = line_of<T>(a, c, all(Moments()), lane == 0);
  else line = line_of<T>(a, c, all(Sums()), lane == 0);
  if (lane == 0) memory.lines[c] = line;
}
template <class T>
Status launch_lines(const Args& a, int64_t slices, cudaStream_t stream) {
  batch_norm_lines<T>
      <<<unsigned((a.channels + kLineWarps - 1) / kLineWarps), kLineWarps * kWarpSize, 0, stream>>>(
          a, Memory(a), int(slices));
  return launch_status();
}

}  // namespace ridge::batch_norm
