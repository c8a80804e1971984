// Slices of the rows, each row read in aligned packs wherever it starts.
//
// Rows r and r + n are equally far from a 16-byte boundary, if n is the number of elements of a
// pack. So a worker (the lanes that read a row together) takes only rows that are a multiple of n
// apart. All packs of a worker start at the same distance before the columns of the tile; its sums
// are moved by that distance once, on the way to shared memory.
//
// An aligned pack may also hold columns of neighbouring tiles, padding, or the end of another row.
// These go into sums that nobody stores. Nothing is read before A's first byte or after its last.
#pragma once

#include <algorithm>

#include "device/convert_pack.cuh"
#include "device/shifted.cuh"
#include "kernels/gemv/finish.cuh"
#include "kernels/gemv_t/fold.cuh"
#include "kernels/gemv_t/gemv_t.h"
#include "ridge/detail/reduce_block.cuh"

namespace ridge::gemv_t {
namespace aligned_rows {

constexpr int kRows = 8;                   // rows that a lane has under way, with one pack of each
constexpr int kLanes = 64;                 // lanes side by side on a row
constexpr int kWideLanes = 128;            // on a long row: fewer pages of memory open at a time
constexpr int64_t kWideBytes = 128 << 10;  // of a row
constexpr int kFewLanes = 16;
constexpr int64_t kMostQuads =
    16;  // float4 sums of slices that each thread of the last block adds at most
constexpr double kWaves = 2;        // of blocks
constexpr int64_t kLeastSteps = 3;  // steps of an average slice, if there are several waves

using Meeting = reduction::Meeting<float4>;

// A step is kRows rows of each worker. The sums of a block, and those in the workspace, are (tile,
// slice, width).
struct Cut {
  int lanes;         // a power of two
  int tile_columns;  // that a block sums; if rows lie unlike, one pack less than its width
  int slices;
  int64_t tiles, steps;
  int64_t edge_rows;  // first and last rows, whose packs may reach outside of A
  double taper;       // 0: equal slices; near 1: the last slice is very short
};

// Four columns of y.
template <class T>
__device__ __forceinline__ void finish_quad(const Args& args, int64_t col, const float4& sum) {
  const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
  T* const y = static_cast<T*>(args.y) + col;
  using Quad = Pack<T, 4>;
  if (args.beta == 0 && col + 4 <= args.cols &&
      reinterpret_cast<uintptr_t>(y) % sizeof(Quad) == 0) {
    float scaled[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) scaled[i] = args.alpha * sums[i];
    *reinterpret_cast<Quad*>(y) = from_floats<T>(scaled);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (col + i < args.cols) gemv::finish<T>(args, col + i, sums[i]);
}

// Sums a slice of a tile; the last block of the tile adds all slices. first_step(s) is the first
// step of slice s.
template <class T, class FirstStep>
__device__ __forceinline__ void sum_slice(const Args& args, const Cut& cut, const Meeting& meeting,
                                          FirstStep first_step) {
  constexpr int kSize = kPackSize<T>;
  __shared__ float4 shared[kThreads * kSize / 4];
  const int lanes = cut.lanes, log_lanes = __ffs(lanes) - 1;
  const int lane = int(threadIdx.x) & (lanes - 1);
  const int worker = int(threadIdx.x) >> log_lanes, workers = kThreads >> log_lanes;
  const int log_workers = __ffs(workers) - 1;
  const int64_t left = int64_t(blockIdx.x) * cut.tile_columns;
  const int64_t right = min(left + cut.tile_columns, args.cols);
  const T* const x = static_cast<const T*>(args.x);  // (rows)
  const T* const matrix = static_cast<const T*>(args.a);
  unsigned long long arrivals = 0;
  if (cut.slices > 1 && threadIdx.x == 0)
    arrivals = reduction::before_arrival(meeting.arrivals + blockIdx.x);

  // Rows row, row + workers, … of the slice; all `before` elements past a boundary.
  const int64_t first_row = first_step(blockIdx.y) * (kRows * workers);
  const int64_t end =
      blockIdx.y + 1 == gridDim.y ? args.rows : first_step(blockIdx.y + 1) * (kRows * workers);
  int64_t row = first_row + worker;
  const T* const start = matrix + row * args.a_stride + left;
  const int before = row < end ? bytes_past_alignment(start) / int(sizeof(T)) : 0;
  // The offset from the first column of the tile. Lanes whose pack has no column of the tile load
  // the first pack again.
  int offset = lane * kSize - before;
  if (left + offset >= right) offset = -before;

  float sums[kSize] = {};
  const auto add_row = [&](const Pack<T>& pack, float factor) {
    float a[kSize];
    to_floats(pack, a);
#pragma unroll
    for (int i = 0; i < kSize; ++i) sums[i] = fmaf(a[i], factor, sums[i]);
  };
  const int64_t a_worker_on = workers * args.a_stride;
  const T* at = start;
  const auto add_step = [&](auto is_row) {
    Pack<T> packs[kRows];
    T factors[kRows];
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      packs[u] = {};  // all bits 0 are zeros
      if (is_row(u)) packs[u] = load_pack(at + u * a_worker_on + offset);
    }
#pragma unroll
    for (int u = 0; u < kRows; ++u) factors[u] = is_row(u) ? x[row + u * workers] : T();
#pragma unroll
    for (int u = 0; u < kRows; ++u) add_row(packs[u], to_float(factors[u]));
  };
  const int64_t plain_end = min(end, args.rows - cut.edge_rows);
  while (row < end) {
    int rows = 1;
    if (row >= cut.edge_rows && row < plain_end) {
      rows = int(min(int64_t(kRows), (plain_end - row + workers - 1) >> log_workers));
      if (rows == kRows) add_step([](int) { return true; });
      else add_step([&](int u) { return u < rows; });
    } else {
      const T* const a_end = matrix + (args.rows - 1) * args.a_stride + args.cols;
      const T* const from = at + offset;
      Pack<T> pack = {};
      if (from >= matrix && from + kSize <= a_end) pack = load_pack(from);
      else
#pragma unroll
        for (int i = 0; i < kSize; ++i)
          if (from + i >= matrix && from + i < a_end) pack[i] = from[i];
      add_row(pack, to_float(x[row]));
    }
    row += rows * workers;
    at += rows * a_worker_on;
  }

  const int width = lanes * kSize, quads = width / 4;
  float* const of_worker = reinterpret_cast<float*>(shared) + worker * width;  // (width)
#pragma unroll
  for (int i = 0; i < kSize; i += 4) {
    const int c = lane * kSize + i - before;
    if (before == 0) {
      *reinterpret_cast<float4*>(of_worker + c) = {sums[i], sums[i + 1], sums[i + 2], sums[i + 3]};
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (c + j >= 0) of_worker[c + j] = sums[i + j];
    }
  }
  __syncthreads();
  const int used = int(right - left + 3) / 4;
  float4* const partials =
      meeting.partials + blockIdx.x * int64_t(cut.slices) * quads;  // (slices, quads) of the tile
  fold(
      shared, quads, used, workers, [&](int w, int q) { return shared[w * quads + q]; },
      [&](int q, const float4& sum) {
        if (cut.slices == 1) finish_quad<T>(args, left + q * 4, sum);
        else partials[int64_t(blockIdx.y) * quads + q] = sum;
      });
  if (cut.slices == 1) return;
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0)
    is_last =
        reduction::is_last_arrival(meeting.arrivals + blockIdx.x, unsigned(cut.slices), arrivals);
  __syncthreads();
  if (!is_last) return;
  fold(
      shared, quads, used, cut.slices,
      [&](int s, int q) { return __ldcg(partials + int64_t(s) * quads + q); },
      [&](int q, const float4& sum) { finish_quad<T>(args, left + q * 4, sum); });
}

// The same for `workspace` and `launch`.
inline Cut cut_for(const Args& a, const DeviceInfo& device, double taper) {
  const auto size = int64_t(size_of(a.dtype)), pack = kPackBytes / size;
  const bool is_aligned = is_pack_aligned(a.a) && (a.rows <= 1 || a.a_stride % pack == 0);
  const int64_t resident = int64_t(device.sm_count) * kBlocksPerSm;
  Cut cut = {};
  const auto cut_in_lanes = [&](int64_t lanes) {
    const int64_t workers = kThreads / lanes, a_step = workers * kRows;
    const int64_t tile_packs = lanes - (is_aligned ? 0 : 1);
    cut.lanes = int(lanes);
    cut.tile_columns = int(tile_packs * pack);
    cut.tiles = (a.cols + cut.tile_columns - 1) / cut.tile_columns;
    cut.steps = (a.rows + a_step - 1) / a_step;
    const int64_t at_once = std::min(std::max<int64_t>(resident / cut.tiles, 1), cut.steps);
    const int64_t in_waves = std::min(int64_t(kWaves * double(resident) / double(cut.tiles) + 0.5),
                                      cut.steps / kLeastSteps);
    cut.slices = int(std::clamp<int64_t>(std::max(at_once, in_waves), 1, 65535));
    cut.taper = cut.slices > at_once ? taper : 0;
  };
  // As many lanes as a row has packs for, up to what suits its length. More lanes, if there are not
  // enough rows for the workers; fewer lanes, if the last block would have too much to add.
  int64_t most = a.cols * size < kWideBytes ? kLanes : kWideLanes;
  while (most < kThreads && kThreads / most * kRows >= 2 * a.rows) most *= 2;
  // If rows are not equally far from a boundary, a worker takes all rows of one distance.
  if (!is_aligned) most = std::min(most, kThreads / pack);
  int64_t lanes = 1;
  const auto has_room = [&] { return (lanes - (is_aligned ? 0 : 1)) * pack >= a.cols; };
  while (lanes < most && !has_room()) lanes *= 2;
  cut_in_lanes(lanes);
  const auto quads_a_thread = [&] { return int64_t(cut.slices) * cut.lanes * pack / 4 / kThreads; };
  while (cut.lanes > kFewLanes && quads_a_thread() > kMostQuads) cut_in_lanes(cut.lanes / 2);
  const int64_t stride = std::max<int64_t>(a.a_stride, 1);
  cut.edge_rows =
      is_aligned && a.cols % pack == 0 ? 0 : std::min(a.rows, (pack - 1 + stride - 1) / stride);
  if (a.a_stride < 1) cut.edge_rows = a.rows;
  return cut;
}

inline size_t meeting_bytes(const Args& a, const Cut& cut) {
  if (cut.slices == 1) return 0;
  const auto pack = int64_t(kPackBytes / size_of(a.dtype));
  return reduction::meeting_bytes<float4>(cut.tiles, cut.tiles * cut.slices * cut.lanes * pack / 4);
}

}  // namespace aligned_rows
}  // namespace ridge::gemv_t
