// A block walks along a chain, a tile at a time.
#pragma once

#include "device/step_tile.cuh"
#include "kernels/recurrence/chain.cuh"

namespace ridge::recurrence {

using steps::kTile;
using steps::kTileThreads;
using steps::kTileWarps;

// Steps [begin, end) of a chain, from h; returns h behind them, to every thread.
template <class Chain>
__device__ __forceinline__ float walk_tiles(const Chain& chain, int64_t begin, int64_t end, float h,
                                            Step (&shared)[2][kTileWarps]) {
  int turn = 0;  // the memory of the tile before is still being read
  for (int64_t first = begin; first < end; first += kTile, turn ^= 1) {
    const steps::TileSteps tile = steps::load_tile(chain, first, end);
    const steps::AroundWarp around = steps::warps_before(tile.warp, shared[turn]);
    const float from = around.before(h);
#pragma unroll
    for (int r = 0; r < steps::kTileRows; ++r) {
      const int64_t s = steps::tile_step(first, r);
      if (s < end) chain.put(s, tile.through[r](from));
    }
    h = around.all(h);
  }
  return h;
}

}  // namespace ridge::recurrence
