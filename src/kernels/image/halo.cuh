// A tile of an image with the pixels round it, in shared memory.
#pragma once

#include "kernels/image/grid.cuh"

namespace ridge::image {

constexpr int kTile = 32;  // pixels on each side
constexpr int kHaloTile = kTile + 2 * kRadius;
constexpr int kHaloPitch = kHaloTile + 4;  // 11 words: rows in different banks
constexpr int kBlockRows = 8;
constexpr int kThreads = kTile * kBlockRows;

// tile[i][j] = in(y0 + i - kRadius, x0 + j - kRadius), borders repeated.
__device__ __forceinline__ void load_halo(const Args& a, int64_t y0, int64_t x0,
                                          uint8_t (&tile)[kHaloTile][kHaloPitch]) {
  const int thread = threadIdx.y * kTile + threadIdx.x;
  for (int k = thread; k < kHaloTile * kHaloTile; k += kThreads) {
    const int i = k / kHaloTile, j = k % kHaloTile;
    const int64_t y = clamped(y0 + i - kRadius, a.height);
    const int64_t x = clamped(x0 + j - kRadius, a.width);
    tile[i][j] = static_cast<const uint8_t*>(a.in)[y * a.in_stride + x];
  }
}

}  // namespace ridge::image
