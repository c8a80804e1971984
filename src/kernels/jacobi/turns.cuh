// Launches that take turns between y and the workspace, so that the last one writes y.
#pragma once

#include <algorithm>

#include "kernels/jacobi/jacobi.h"

namespace ridge::jacobi {

// `per_launch`: iterations that one launch makes.
inline size_t turns_bytes(const Args& a, int per_launch) {
  return a.iterations > per_launch ? size_t(a.count()) * sizeof(float) : 0;
}

// No iteration at all. A kernel, because a copy cannot be captured on any address.
static __global__ void copy_grid(const float* x, float* y, int64_t count) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    y[i] = x[i];
}

// Calls step(from, to, iterations) for each launch.
template <class Step>
Status in_turns(const Args& a, int per_launch, cudaStream_t stream, Step step) {
  if (a.iterations == 0) {
    constexpr int64_t kThreads = 256, kMostBlocks = 1 << 16;
    const int64_t blocks = std::min((a.count() + kThreads - 1) / kThreads, kMostBlocks);
    if (blocks > 0)
      copy_grid<<<unsigned(blocks), unsigned(kThreads), 0, stream>>>(a.x, a.y, a.count());
    return launch_status();
  }
  float* const buffers[] = {a.y, static_cast<float*>(a.workspace)};
  const float* from = a.x;
  for (int64_t left = a.iterations; left > 0;) {
    const int64_t launches = (left + per_launch - 1) / per_launch;
    float* const to = buffers[(launches - 1) % 2];
    const int now = int(std::min<int64_t>(left, per_launch));
    step(from, to, now);
    if (const Status s = launch_status(); !s) return s;
    from = to;
    left -= now;
  }
  return Status::ok();
}

// Blocks over a grid, in one number.
struct Tiles {
  int width, height, depth;  // of a tile
  int across, down;          // tiles
  int64_t count;
};
inline Tiles tiles_of(const Args& a, int width, int height, int depth) {
  const auto over = [](int64_t size, int tile) { return (size + tile - 1) / tile; };
  const int64_t across = over(a.width, width), down = over(a.height, height);
  return {width, height, depth, int(across), int(down), across * down * over(a.depth, depth)};
}
struct Corner {
  int64_t x, y, z;
};
__device__ __forceinline__ Corner corner_of(const Tiles& t) {
  const int row = int(blockIdx.x) / t.across;
  return {int64_t(int(blockIdx.x) % t.across) * t.width, int64_t(row % t.down) * t.height,
          int64_t(row / t.down) * t.depth};
}
inline Support supports_tiles(const Tiles& t) {
  return t.count < int64_t(1) << 31 ? kSupported : "takes fewer than 2^31 blocks";
}

__device__ __forceinline__ bool is_in_grid(const Args& a, int64_t x, int64_t y, int64_t z) {
  return x >= 0 && x < a.width && y >= 0 && y < a.height && z >= 0 && z < a.depth;
}
// Of an element of the grid.
__device__ __forceinline__ bool is_inner(const Args& a, int64_t x, int64_t y, int64_t z) {
  return x > 0 && x < a.width - 1 && y > 0 && y < a.height - 1 &&
         (!a.is_3d || (z > 0 && z < a.depth - 1));
}
// From the sum of the neighbours.
__device__ __forceinline__ float mean_of(const Args& a, float flat, float deep) {
  return a.is_3d ? (flat + deep) * (1.0f / 6) : flat * 0.25f;
}

}  // namespace ridge::jacobi
