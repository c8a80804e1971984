// A tile of neighbouring steps that a block does together. A chain has at(s), its step number s,
// and put(s, h), which takes h behind that step.
#pragma once

#include "device/step.cuh"

namespace ridge::steps {

constexpr int kTileThreads = 256;
constexpr int kTileWarps = kTileThreads / kWarpSize;
constexpr int kTileRows = 4;  // loads of a lane under way; a warp has 32 steps in each
constexpr int kTile = kTileThreads * kTileRows;

// What a thread knows of a tile: its steps, each with all of its warp that come before.
struct TileSteps {
  Step through[kTileRows];
  Step warp;  // all steps of the warp
};
__device__ __forceinline__ int64_t tile_step(int64_t first, int row) {
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  return first + (warp * kTileRows + row) * kWarpSize + lane;
}
// From single steps in `through`.
template <Order kOrder = Order::from_start>
__device__ __forceinline__ void combine_tile(TileSteps& tile) {
  constexpr bool kUp = kOrder == Order::from_start;
#pragma unroll
  for (int i = 0; i < kTileRows; ++i) {
    Step& row = tile.through[kUp ? i : kTileRows - 1 - i];
    combine_lanes<kOrder>(row);
    if (i > 0) row = then(tile.warp, row);
    constexpr int kLast = kUp ? kWarpSize - 1 : 0;
    tile.warp = {__shfl_sync(kAllLanes, row.a, kLast), __shfl_sync(kAllLanes, row.b, kLast)};
  }
}
template <class Chain>
__device__ __forceinline__ TileSteps load_tile(const Chain& chain, int64_t first, int64_t end) {
  TileSteps tile;
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    const int64_t s = tile_step(first, r);
    tile.through[r] = s < end ? chain.at(s) : Step();
  }
  combine_tile(tile);
  return tile;
}

// The warps' steps, one after the other: what comes before this warp, and all. At one barrier;
// `shared` may not be in use by an earlier call.
struct AroundWarp {
  Step before, all;
};
template <Order kOrder = Order::from_start>
__device__ __forceinline__ AroundWarp warps_before(const Step& warp, Step (&shared)[kTileWarps]) {
  if (threadIdx.x % kWarpSize == 0) shared[threadIdx.x / kWarpSize] = warp;
  __syncthreads();
  AroundWarp around;
#pragma unroll
  for (int i = 0; i < kTileWarps; ++i) {
    const int w = kOrder == Order::from_start ? i : kTileWarps - 1 - i;
    if (w == int(threadIdx.x) / kWarpSize) around.before = around.all;
    around.all = then(around.all, shared[w]);
  }
  return around;
}

}  // namespace ridge::steps
