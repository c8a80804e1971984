// Reduces the rows of a matrix, with one group of lanes per row: one lane, a warp, a block, or
// several blocks where there are few rows.
#pragma once

#include "ridge/detail/reduce_block.cuh"

namespace ridge::reduction {

constexpr int kRowThreads = 256;
constexpr int kRowUnroll = 4;  // packs of a thread under way

template <class T>
struct Rows {
  const T* x;
  int64_t rows, cols;
  int64_t stride;  // elements from row to row
};

// The share of a group in a row: packs [first, end), and with `edges` also the elements before the
// first and after the last pack. Index is the type that counts packs.
template <int Lanes, class Index, class Op, class T>
__device__ __forceinline__ AccOf<Op> fold_row(const Op& op, const T* row, int64_t cols, int lane,
                                              Index first, Index end, bool edges) {
  constexpr int kSize = kPackSize<T>;
  const int begin = int(min(int64_t(elements_to_alignment(row)), cols));
  AccOf<Op> acc = op.identity();
  for_packs<kRowUnroll, Pack<T>>(
      Index(first + lane), Index(Lanes), end,
      [&](Pack<T>& x, Index pack) { x = load_pack(row + begin + int64_t(pack) * kSize); },
      [&](const Pack<T>& x, Index pack) { fold(op, acc, begin + int64_t(pack) * kSize, x); });
  if (edges) {
    const int64_t inside = (cols - begin) / kSize * kSize;  // elements in packs
    for (int e = lane; e < int(cols - inside); e += Lanes) {
      const int64_t i = e < begin ? e : e + inside;
      acc = op.combine(acc, transformed(op, i, element(row[i])));
    }
  }
  return acc;
}

// Groups of up to a warp.
template <int Lanes, class Op, class T, class Out>
__global__ void __launch_bounds__(kRowThreads)
    reduce_rows_by_lanes(Op op, Rows<T> m, Out* out, int64_t out_stride) {
  static_assert(Lanes <= kWarpSize);
  const int64_t row = (int64_t(blockIdx.x) * kRowThreads + threadIdx.x) / Lanes;
  const int lane = int(threadIdx.x) % Lanes;
  AccOf<Op> acc = op.identity();
  if (row < m.rows) {
    const T* x = m.x + row * m.stride;
    const int64_t packs = (m.cols - min(int64_t(elements_to_alignment(x)), m.cols)) / kPackSize<T>;
    acc = fold_row<Lanes, int>(op, x, m.cols, lane, 0, int(packs), true);
  }
  acc = warp_combine<Lanes>(op, acc);  // lanes without a row take part, too
  if (row < m.rows && lane == 0) out[row * out_stride] = finished<Out>(op, acc, m.cols);
}

// One block per row, or `parts` blocks: the last of them to finish combines their results.
template <class Op, class T, class Out>
__global__ void __launch_bounds__(kRowThreads)
    reduce_rows_by_blocks(Op op, Rows<T> m, Out* out, int64_t out_stride, int parts,
                          Meeting<AccOf<Op>> meeting) {
  const int64_t row = parts == 1 ? blockIdx.x : blockIdx.x / unsigned(parts);
  const int part = parts == 1 ? 0 : int(blockIdx.x % unsigned(parts));
  const T* x = m.x + row * m.stride;
  const int64_t packs = (m.cols - min(int64_t(elements_to_alignment(x)), m.cols)) / kPackSize<T>;
  const int64_t a_part = (packs + parts - 1) / parts;
  AccOf<Op> acc =
      fold_row<kRowThreads, int64_t>(op, x, m.cols, int(threadIdx.x), part * a_part,
                                     min(packs, (part + 1) * a_part), part == parts - 1);
  acc = block_combine<kRowThreads>(op, acc);
  if (threadIdx.x >= kWarpSize) return;
  if (parts > 1) {
    bool last = false;
    if (threadIdx.x == 0) {
      meeting.partials[blockIdx.x] = acc;
      last = is_last_arrival(meeting.arrivals + row, unsigned(parts));
    }
    if (!__shfl_sync(kAllLanes, last, 0)) return;
    __syncwarp();  // orders the reads below behind the arrival
    acc = warp_combine_fresh(op, meeting.partials + row * parts, parts);
  }
  if (threadIdx.x == 0) out[row * out_stride] = finished<Out>(op, acc, m.cols);
}

}  // namespace ridge::reduction
