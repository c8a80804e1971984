// How the rungs of transpose cut their matrices into tiles, and the frame that those with a 32 x 32
// tile share.
#pragma once

#include "device/raw.cuh"
#include "kernels/transpose/transpose.h"

namespace ridge::transpose {

struct Tiling {
  uint32_t tiles_down, tiles_across;  // of one matrix
  uint32_t tiles;                     // of all
};
constexpr Tiling tiling_of(const Args& a, int tile_rows, int tile_cols) {
  const auto down = uint32_t((a.rows + tile_rows - 1) / tile_rows);
  const auto across = uint32_t((a.cols + tile_cols - 1) / tile_cols);
  return {down, across, uint32_t(a.batch * down * across)};
}

struct TileAt {
  int64_t batch;
  uint32_t down, across;
};
// `Group` tiles below each other, then the next column of tiles. So tiles that run at the same time
// read and write neighbouring memory, which suits the pages of DRAM, and the two halves of a sector
// that two tiles write are combined in the L2.
template <uint32_t Group>
__device__ __forceinline__ TileAt tile_at(const Tiling& t, uint32_t index) {
  const uint32_t a_matrix = t.tiles_down * t.tiles_across;
  const uint32_t batch = index / a_matrix;
  const uint32_t in_matrix = index - batch * a_matrix;
  const uint32_t group = in_matrix / (Group * t.tiles_across);
  const uint32_t in_group = in_matrix - group * Group * t.tiles_across;
  const uint32_t height = min(Group, t.tiles_down - group * Group);
  const uint32_t across = in_group / height;
  return {batch, group * Group + in_group - across * height, across};
}

// The lessons: tiles of 32 x 32 elements, blocks of 32 x 8 threads, four rows per thread.
constexpr int kTile = 32;
constexpr int kBlockRows = 8;

// The rungs differ only in the order in which the elements of a tile lie in shared memory:
// Layout::at(row, col) < Layout::kElements.
template <class T, class Layout>
__device__ __forceinline__ void transpose_tile(const Args& a, const Tiling& tiling) {
  __shared__ T tile[Layout::kElements];
  const TileAt at = tile_at<1>(tiling, blockIdx.x);
  const int64_t row0 = int64_t(at.down) * kTile, col0 = int64_t(at.across) * kTile;
  const T* in = static_cast<const T*>(a.in) + at.batch * a.in_batch_stride;  // (rows, cols)
  T* out = static_cast<T*>(a.out) + at.batch * a.out_batch_stride;           // (cols, rows)
  const int lane = threadIdx.x;
#pragma unroll
  for (int i = threadIdx.y; i < kTile; i += kBlockRows)
    if (row0 + i < a.rows && col0 + lane < a.cols)
      tile[Layout::at(i, lane)] = in[(row0 + i) * a.in_stride + col0 + lane];
  __syncthreads();
#pragma unroll
  for (int i = threadIdx.y; i < kTile; i += kBlockRows)
    if (col0 + i < a.cols && row0 + lane < a.rows)
      out[(col0 + i) * a.out_stride + row0 + lane] = tile[Layout::at(lane, i)];
}

template <class Kernel>
Status launch_tiles(const Args& a, Kernel kernel, cudaStream_t stream) {
  const Tiling tiling = tiling_of(a, kTile, kTile);
  kernel<<<tiling.tiles, dim3(kTile, kBlockRows), 0, stream>>>(a, tiling);
  return launch_status();
}

constexpr Support moves(const Args& a) {
  return has_raw_type(a.dtype) ? kSupported : "moves elements of 1, 2 or 4 bytes";
}

}  // namespace ridge::transpose
