// A tile of 128 by 128 results, as eight warps make it: each warp 64 by 32, each lane 8 by 8 in
// groups of 4 by 4.
#pragma once

#include "kernels/gemm/asked.cuh"
#include "kernels/gemm/packs_of_tile.cuh"

namespace ridge::gemm {

struct WarpTile {
  static constexpr int kEdge = 128;         // of the block's tile
  static constexpr int kPitch = kEdge + 4;  // of its slabs in shared memory
  static constexpr int kThreads = 256;
  static constexpr int kRows = 64, kCols = 32;                          // of a warp
  static constexpr int kRowsApart = kRows / 2, kColsApart = kCols / 2;  // a lane's two groups

  int row, col;  // of the first group, in the block's tile
  float sums[8][2][4] = {};

  __device__ __forceinline__ WarpTile() {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    constexpr int kWarpsPerRow = kEdge / kCols;
    row = warp / kWarpsPerRow * kRows + lane / 4 * 4;
    col = warp % kWarpsPerRow * kCols + lane % 4 * 4;
  }

  // Adds one level: a's and b's elements of one k. Every other row goes backwards, so that one of
  // the two factors of a multiply-add is always that of the one before.
  __device__ __forceinline__ void add(const float* level_a, const float* level_b) {
    Pack<float> x[2], y[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      x[half] = load_pack(level_a + row + kRowsApart * half);
      y[half] = load_pack(level_b + col + kColsApart * half);
    }
#pragma unroll
    for (int r = 0; r < 8; ++r)
#pragma unroll
      for (int step = 0; step < 8; ++step) {
        const int c = r % 2 == 0 ? step : 7 - step;
        sums[r][c / 4][c % 4] = fmaf(x[r / 4][r % 4], y[c / 4][c % 4], sums[r][c / 4][c % 4]);
      }
  }

  __device__ __forceinline__ void put(const Results<float>& results, const TilePlace& tile) const {
#pragma unroll
    for (int r = 0; r < 8; ++r)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        put_pack(results, tile.row + row + r / 4 * kRowsApart + r % 4,
                 tile.col + col + kColsApart * half, sums[r][half]);
  }
  // With an epilogue.
  __device__ __forceinline__ void put_asked(const Args& args, const TilePlace& tile) const {
#pragma unroll 1
    for (int r = 0; r < 8; ++r) {
      float line[8];
      with_constant<8>(r, [&](auto constant) {
#pragma unroll
        for (int i = 0; i < 8; ++i) line[i] = sums[decltype(constant)::value][i / 4][i % 4];
      });
      const int64_t at_row = tile.row + row + r / 4 * kRowsApart + r % 4, at_col = tile.col + col;
      gemm::put_asked<float, 4>(args, at_row, at_col, {line[0], line[1], line[2], line[3]});
      gemm::put_asked<float, 4>(args, at_row, at_col + kColsApart,
                                {line[4], line[5], line[6], line[7]});
    }
  }
};

}  // namespace ridge::gemm
