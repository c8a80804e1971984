// A tile of neighbouring steps that a block does together.
#pragma once

#include "kernels/recurrence/chain.cuh"

namespace ridge::recurrence {

constexpr int kTileThreads = 256;
constexpr int kTileWarps = kTileThreads / kWarpSize;
constexpr int kTileRows = 4;  // loads of a lane under way; a warp has 32 steps in each
constexpr int kTile = kTileThreads * kTileRows;

// What a thread knows of a tile: its steps, each with all of its warp that come before.
struct TileSteps {
  Step through[kTileRows];
  Step warp;  // all steps of the warp
};
template <class Chain>
__device__ __forceinline__ int64_t tile_step(int64_t first, int row) {
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  return first + (warp * kTileRows + row) * kWarpSize + lane;
}
template <class Chain>
__device__ __forceinline__ TileSteps load_tile(const Chain& chain, int64_t first, int64_t end) {
  TileSteps tile;
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    const int64_t s = tile_step<Chain>(first, r);
    tile.through[r] = s < end ? chain.at(s) : Step();
  }
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    lanes_before(tile.through[r]);
    if (r > 0) tile.through[r] = then(tile.warp, tile.through[r]);
    tile.warp = {__shfl_sync(kAllLanes, tile.through[r].a, kWarpSize - 1),
                 __shfl_sync(kAllLanes, tile.through[r].b, kWarpSize - 1)};
  }
  return tile;
}

// The warps' steps, one after the other: what comes before this warp, and all. At one barrier;
// `shared` may not be in use by an earlier call.
struct AroundWarp {
  Step before, all;
};
__device__ __forceinline__ AroundWarp warps_before(const Step& warp, Step (&shared)[kTileWarps]) {
  if (threadIdx.x % kWarpSize == 0) shared[threadIdx.x / kWarpSize] = warp;
  __syncthreads();
  AroundWarp around;
#pragma unroll
  for (int w = 0; w < kTileWarps; ++w) {
    if (w == int(threadIdx.x) / kWarpSize) around.before = around.all;
    around.all = then(around.all, shared[w]);
  }
  return around;
}

// Steps [begin, end) of a chain, from h; returns h behind them, to every thread.
template <class Chain>
__device__ __forceinline__ float walk_tiles(const Chain& chain, int64_t begin, int64_t end, float h,
                                            Step (&shared)[2][kTileWarps]) {
  int turn = 0;  // the memory of the tile before is still being read
  for (int64_t first = begin; first < end; first += kTile, turn ^= 1) {
    const TileSteps tile = load_tile(chain, first, end);
    const AroundWarp around = warps_before(tile.warp, shared[turn]);
    const float from = around.before(h);
#pragma unroll
    for (int r = 0; r < kTileRows; ++r) {
      const int64_t s = tile_step<Chain>(first, r);
      if (s < end) chain.put(s, tile.through[r](from));
    }
    h = around.all(h);
  }
  return h;
}

}  // namespace ridge::recurrence
