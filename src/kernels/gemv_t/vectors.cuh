// Slices of the rows, summed in packs of 16 bytes.
//
// Where rows are not whole packs (not congruent), a lane loads the two aligned packs around its own
// and shifts them together. What these hold beside the row's columns goes into sums that nobody
// stores; but nothing is read before A's first byte or after its last.
#pragma once

#include <algorithm>

#include "device/shifted.cuh"
#include "kernels/gemv_t/gemv_t.h"

namespace ridge::gemv_t {
namespace packs {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 3;
constexpr int kPacks = 2;     // of a row that a lane sums, side by side
constexpr int kUnroll = 4;    // rows that a lane has under way
constexpr double kWaves = 4;  // of blocks

// The sums of a block: (workers, width), one row per worker, whose lanes read a row of A together.
template <class T>
constexpr int kSumQuads = kThreads* kPacks* kPackSize<T> / 4;

// Sums the rows of slice blockIdx.y for the columns of tile blockIdx.x, into shared_sums.
// lanes: threads side by side on a row, a power of two up to 32.
template <class T, bool Congruent>
__device__ __forceinline__ void sum_slice(const Args& args, int lanes, int64_t rows_per_slice,
                                          float4 (&shared_sums)[kSumQuads<T>]) {
  constexpr int kSize = kPackSize<T>;
  constexpr int kRows = Congruent ? kUnroll : kUnroll / 2;  // two loads per pack: half the rows
  const int log_lanes = __ffs(lanes) - 1;
  const int lane = int(threadIdx.x) & (lanes - 1);
  const int worker = int(threadIdx.x) >> log_lanes, workers = kThreads >> log_lanes;
  const int width = lanes * kPacks * kSize;  // columns of the block
  const int64_t first_col = int64_t(blockIdx.x) * width;
  const T* const x = static_cast<const T*>(args.x);  // (rows)
  const T* const matrix = static_cast<const T*>(args.a);
  const auto a_begin = reinterpret_cast<uintptr_t>(matrix);
  const auto a_end =
      reinterpret_cast<uintptr_t>(matrix + (args.rows - 1) * args.a_stride + args.cols);

  int64_t col[kPacks];
#pragma unroll
  for (int p = 0; p < kPacks; ++p) col[p] = first_col + (p * lanes + lane) * kSize;
  float sums[kPacks][kSize] = {};
  const int64_t end = min((int64_t(blockIdx.y) + 1) * rows_per_slice, args.rows);
  const auto add = [&](int64_t row, auto is_row) {  // rows row, row + workers, …
    int4 low[kRows][kPacks], high[kRows][kPacks];
    float factor[kRows];
    const auto address_of = [&](int u, int p) {
      return reinterpret_cast<uintptr_t>(matrix + (row + u * workers) * args.a_stride + col[p]);
    };
    const auto shift_of = [&](int u) { return Congruent ? 0 : int(address_of(u, 0) % kPackBytes); };
    const auto is_wanted = [&](int u, int p) {
      return col[p] < args.cols && is_row(row + u * workers);
    };
    const auto is_inside = [&](int u, int p) {  // all that is loaded
      if (Congruent) return true;
      const uintptr_t first = address_of(u, p) - uintptr_t(shift_of(u));
      return first >= a_begin && first + (shift_of(u) ? 2 : 1) * kPackBytes <= a_end;
    };
#pragma unroll
    for (int u = 0; u < kRows; ++u)
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        const int4* const at =
            reinterpret_cast<const int4*>(address_of(u, p) - uintptr_t(shift_of(u)));
        const bool loads = is_wanted(u, p) && is_inside(u, p);
        low[u][p] = high[u][p] = {};  // all bits 0 are zeros
        if (loads) low[u][p] = __ldg(at);
        if (!Congruent && loads && shift_of(u)) high[u][p] = __ldg(at + 1);
      }
#pragma unroll
    for (int u = 0; u < kRows; ++u) {
      factor[u] = 0;
      if (is_row(row + u * workers)) factor[u] = to_float(x[row + u * workers]);
    }
#pragma unroll
    for (int u = 0; u < kRows; ++u)
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        auto pack =
            bytes_as<Pack<T>>(Congruent ? low[u][p] : shifted(low[u][p], high[u][p], shift_of(u)));
        if (!Congruent && is_wanted(u, p) && !is_inside(u, p)) {
          const T* const at = reinterpret_cast<const T*>(address_of(u, p));
#pragma unroll
          for (int i = 0; i < kSize; ++i)
            if (col[p] + i < args.cols) pack[i] = at[i];
        }
#pragma unroll
        for (int i = 0; i < kSize; ++i) sums[p][i] = fmaf(to_float(pack[i]), factor[u], sums[p][i]);
      }
  };
  int64_t row = int64_t(blockIdx.y) * rows_per_slice + worker;
  for (; row + (kRows - 1) * workers < end; row += kRows * workers)
    add(row, [](int64_t) { return true; });
  if (row < end) add(row, [&](int64_t r) { return r < end; });

#pragma unroll
  for (int p = 0; p < kPacks; ++p)
#pragma unroll
    for (int i = 0; i < kSize; i += 4)
      shared_sums[(worker * width + (p * lanes + lane) * kSize + i) / 4] = {
          sums[p][i], sums[p][i + 1], sums[p][i + 2], sums[p][i + 3]};
  __syncthreads();
}

// Then the sum of all workers for column c of the tile.
template <class T>
__device__ __forceinline__ float sum_of_workers(const float4 (&shared_sums)[kSumQuads<T>],
                                                int lanes, int c) {
  const float* const all_sums = reinterpret_cast<const float*>(shared_sums);  // (workers, width)
  const int width = lanes * kPacks * kPackSize<T>, workers = kThreads >> (__ffs(lanes) - 1);
  float sum = 0;
  for (int w = 0; w < workers; ++w) sum += all_sums[w * width + c];
  return sum;
}

// How the work is cut; the same for `workspace` and `launch`.
struct Plan {
  bool congruent;
  int lanes;
  int64_t tiles, slices, rows_per_slice;
};
inline Plan plan_for(const Args& a, const DeviceInfo& device) {
  const auto size = int64_t(size_of(a.dtype));
  const auto is_whole = [&](int64_t elements) { return elements * size % kPackBytes == 0; };
  Plan plan;
  plan.congruent =
      is_pack_aligned(a.a) && is_whole(a.cols) && (a.rows <= 1 || is_whole(a.a_stride));
  const int64_t pack = kPackBytes / size;
  plan.lanes = 1;
  while (plan.lanes < 32 && plan.lanes * kPacks * pack < a.cols) plan.lanes *= 2;
  const int64_t width = plan.lanes * kPacks * pack;
  plan.tiles = (a.cols + width - 1) / width;
  const int64_t resident = int64_t(device.sm_count) * kBlocksPerSm;
  const int64_t wanted =
      int64_t(kWaves * double(resident) / double(std::max<int64_t>(plan.tiles, 1)) + 0.999);
  const int64_t least_rows = kThreads / plan.lanes * kUnroll;
  plan.slices = std::clamp<int64_t>(std::min(wanted, a.rows / least_rows), 1, 65535);
  plan.rows_per_slice = (a.rows + plan.slices - 1) / plan.slices;
  return plan;
}

}  // namespace packs
}  // namespace ridge::gemv_t
