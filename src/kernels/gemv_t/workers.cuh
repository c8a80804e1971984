// The threads of a block share the rows of a slice. `lanes` threads side by side on one row are a
// worker; worker w takes the rows w, w + workers, … of the slice. A block sums a tile: the columns
// that one worker can sum.
#pragma once

#include <algorithm>

#include "kernels/gemv_t/columns.cuh"
#include "kernels/gemv_t/fold.cuh"

namespace ridge::gemv_t {
namespace workers {

constexpr int kMostLanes = 64;
constexpr double kWaves = 2;  // of blocks

// Sums the rows of slice blockIdx.y for the columns of tile blockIdx.x, and calls put(col, sum)
// once for each column. lanes: a power of two. shared: (workers, lanes * Size).
template <class T, int Size, class Put>
__device__ __forceinline__ void sum_slice(const Args& args, int lanes, int64_t rows_per_slice,
                                          float (&shared)[kThreads * Size], Put put) {
  const int lane = int(threadIdx.x) & (lanes - 1);
  const int worker = int(threadIdx.x) / lanes, workers = kThreads / lanes;
  const int width = lanes * Size;  // columns of the tile
  const int64_t first_col = int64_t(blockIdx.x) * width, col = first_col + lane * Size;
  const int64_t begin = blockIdx.y * rows_per_slice, end = min(begin + rows_per_slice, args.rows);
  float sums[Size] = {};
  if (col < args.cols) add_rows<T, Size>(args, col, begin + worker, workers, end, sums);
  auto* const of_lane = reinterpret_cast<Pack<float, Size>*>(shared + worker * width + lane * Size);
#pragma unroll
  for (int i = 0; i < Size; ++i) (*of_lane)[i] = sums[i];
  __syncthreads();
  const int used = int(min(int64_t(width), args.cols - first_col));
  fold(
      shared, width, used, workers, [&](int w, int c) { return shared[w * width + c]; },
      [&](int c, float sum) { put(first_col + c, sum); });
}

// How the work is cut; the same for `workspace` and `launch`.
struct Plan {
  int lanes;
  int64_t tiles, slices, rows_per_slice;
};
inline Plan plan_for(const Args& a, const DeviceInfo& device) {
  const int64_t columns = columns_per_thread(a);
  Plan plan;
  plan.lanes = 1;
  while (plan.lanes < kMostLanes && plan.lanes * columns < a.cols) plan.lanes *= 2;
  plan.tiles = std::max<int64_t>((a.cols + plan.lanes * columns - 1) / (plan.lanes * columns), 1);
  const double resident = double(device.sm_count) * kBlocksPerSm;
  const auto wanted = int64_t(kWaves * resident / double(plan.tiles) + 0.5);
  const int64_t least_rows = kThreads / plan.lanes * kRowsUnderWay;
  plan.slices = std::clamp<int64_t>(std::min(wanted, a.rows / least_rows), 1, 65535);
  plan.rows_per_slice = (a.rows + plan.slices - 1) / plan.slices;
  return plan;
}

}  // namespace workers
}  // namespace ridge::gemv_t
