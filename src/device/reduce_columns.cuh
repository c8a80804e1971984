// Reduces the middle axis of (outer, axis, inner): lanes take packs of neighbouring columns, so
// that every load is as wide and as coalesced as a copy's; groups of them share the axis.
#pragma once

#include "device/from_detail.cuh"
#include "ridge/detail/reduce_block.cuh"

namespace ridge::reduction {

constexpr int kColumnThreads = 256;

// Where the packs of a thread lie. Aligned: at 16-byte boundaries in every row. Anywhere: at the
// same columns in every row, across boundaries. Shifted: at the boundaries of each row, so at other
// columns in other rows; but the rows of one thread are a multiple of a pack apart, and such rows
// are shifted alike.
enum class Packs { aligned, anywhere, shifted };

// Packs of a thread under way. A pack that lies across words is five loads already.
template <Packs Lie>
constexpr int kColumnUnroll = Lie == Packs::anywhere ? 2 : 4;

template <class T>
struct Columns {
  const T* x;
  int64_t outer, axis, inner;
  int64_t outer_stride, axis_stride;  // elements; columns are neighbours
};

// Columns [column, column + size) of one step along the axis. Columns outside of the row have
// arbitrary values, which are not used.
template <Packs Lie, class T>
__device__ __forceinline__ Pack<T> load_columns(const Columns<T>& m, const T* row, int64_t column) {
  constexpr int kSize = kPackSize<T>;
  const T* p = row + column;
  Pack<T> x;
  if constexpr (Lie == Packs::shifted) {  // may have elements of the rows before and behind
    const T* const end =
        m.x + (m.outer - 1) * m.outer_stride + (m.axis - 1) * m.axis_stride + m.inner;
    if (p >= m.x && p + kSize <= end) return load_pack(p);
#pragma unroll
    for (int j = 0; j < kSize; ++j) x[j] = p + j >= m.x && p + j < end ? p[j] : T();
    return x;
  }
  const bool whole = column + kSize <= m.inner;
  if (Lie == Packs::aligned && whole) return load_pack(p);
  // A pack that starts in the middle of a word also reads the other half of that word.
  if (Lie == Packs::anywhere && whole &&
      (sizeof(T) >= 4 || (column > 0 && column + kSize < m.inner)))
    return load_pack_anywhere(p);
#pragma unroll
  for (int j = 0; j < kSize; ++j) x[j] = column + j < m.inner ? p[j] : T();
  return x;
}

// What a thread carries for the columns of a pack, for operators that have something smaller than
// one AccOf<Op> per column: take(pack) for one step after the other, kMostSteps at most; then
// result(column, first step, distance between steps). It is declared for none here.
template <class Op, class T>
struct PackFold;
template <class Fold>
using MostSteps = decltype(Fold::kMostSteps);
template <class Op, class T>
constexpr bool kFoldsPacks = IsValid<MostSteps, void, PackFold<Op, T>>::value;

// Steps `first`, `first` + `step`, … below `end` of a thread's columns: ascending, so an operator
// that accumulates may, one element at a time.
template <Packs Lie, class Op, class T>
__device__ __forceinline__ void fold_columns(const Op& op, const Columns<T>& m, const T* x,
                                             int64_t column, int64_t first, int64_t step,
                                             int64_t end, AccOf<Op> (&acc)[kPackSize<T>]) {
  const auto load = [&](Pack<T>& to, int64_t a) {
    to = load_columns<Lie>(m, x + a * m.axis_stride, column);
  };
  if constexpr (kFoldsPacks<Op, T>) {
    using Fold = PackFold<Op, T>;
    for (const int64_t run = step * Fold::kMostSteps; first < end; first += run) {
      Fold fold;
      for_packs<kColumnUnroll<Lie>, Pack<T>>(
          first, step, min(end, first + run), load,
          [&](const Pack<T>& from, int64_t) { fold.take(from); });
#pragma unroll
      for (int j = 0; j < kPackSize<T>; ++j)
        acc[j] = op.combine(acc[j], fold.result(j, first, step));
    }
    return;
  }
  for_packs<kColumnUnroll<Lie>, Pack<T>>(
      first, step, end, load, [&](const Pack<T>& from, int64_t a) {
#pragma unroll
        for (int j = 0; j < kPackSize<T>; ++j) {
          if constexpr (kAccumulates<Op, ElementOf<T>, 1>) {
            const ElementOf<T> one[1] = {element(from[j])};
            op.accumulate(acc[j], one, a);
          } else {
            acc[j] = op.combine(acc[j], transformed(op, a, element(from[j])));
          }
        }
      });
}

// A short axis: a thread takes all of it.
template <Packs Lie, class Op, class T, class Out>
__global__ void __launch_bounds__(kColumnThreads)
    reduce_columns_by_threads(Op op, Columns<T> m, Out* out, int64_t out_stride) {
  constexpr int kSize = kPackSize<T>;
  const int64_t packs = (m.inner + kSize - 1) / kSize;
  const int64_t i = int64_t(blockIdx.x) * kColumnThreads + threadIdx.x;
  const int64_t o = i < packs ? 0 : i / packs, column = (i - o * packs) * kSize;
  if (o >= m.outer) return;
  AccOf<Op> acc[kSize];
#pragma unroll
  for (int j = 0; j < kSize; ++j) acc[j] = op.identity();
  fold_columns<Lie>(op, m, m.x + o * m.outer_stride, column, 0, 1, m.axis, acc);
  Out* const to = out + o * out_stride + column;
  Pack<Out, kSize> y;
#pragma unroll
  for (int j = 0; j < kSize; ++j) y[j] = finished<Out>(op, acc[j], m.axis);
  if (sizeof(y) % kPackBytes == 0 && column + kSize <= m.inner && is_pack_aligned(to)) {
#pragma unroll
    for (int k = 0; k < int(sizeof(y) / kPackBytes); ++k)
      reinterpret_cast<int4*>(to)[k] = reinterpret_cast<const int4*>(&y)[k];
  } else {
#pragma unroll
    for (int j = 0; j < kSize; ++j)
      if (column + j < m.inner) to[j] = y[j];
  }
}

// A tile is `lanes` packs of columns, a power of two up to a warp; `Warps` warps share its axis.
// With one warp per tile, a block has 8 tiles. With eight, `parts` blocks may share the axis
// further, and the last of them combines their results. If packs are shifted, a warp is certain to
// hold only the columns of one pack less, and those are the tile.
template <int Warps, Packs Lie, class Op, class T, class Out>
__global__ void __launch_bounds__(kColumnThreads)
    reduce_columns_by_tiles(Op op, Columns<T> m, Out* out, int64_t out_stride, int lanes,
                            int64_t tiles_a_row, int parts, Meeting<AccOf<Op>> meeting) {
  using Acc = AccOf<Op>;
  constexpr int kSize = kPackSize<T>, kWarps = kColumnThreads / kWarpSize;
  static_assert(Warps == 1 || (Warps == kWarps && kWarpSize * kSize <= kColumnThreads));
  const int shift = __ffs(lanes) - 1;
  const int lane = int(threadIdx.x) & (lanes - 1);
  const int groups = Warps * kWarpSize >> shift;  // that share an axis
  const int group = int(threadIdx.x) >> shift & (groups - 1);
  constexpr bool kShifted = Lie == Packs::shifted;
  static_assert(!kShifted || (Warps == kWarps && kWarps * sizeof(T) % kPackBytes == 0));
  const int columns = kShifted ? (kWarpSize - 1) * kSize : lanes * kSize;  // of a tile
  const int64_t block = parts == 1 ? blockIdx.x : blockIdx.x / unsigned(parts);
  const int part = parts == 1 ? 0 : int(blockIdx.x % unsigned(parts));
  const int64_t tile = Warps == 1 ? block * kWarps + threadIdx.x / kWarpSize : block;
  const int64_t o = tiles_a_row == 1 ? tile : tile / tiles_a_row;
  const int64_t left = (tile - o * tiles_a_row) * columns;  // the tile's first column
  const int64_t a_part = (m.axis + parts - 1) / parts;
  const int64_t first = part * a_part + group;
  const T* const x = m.x + o * m.outer_stride;
  // Columns of the first pack that lie in front of the tile.
  const int before = kShifted ? int(reinterpret_cast<uintptr_t>(x + first * m.axis_stride + left) %
                                    kPackBytes / sizeof(T))
                              : 0;
  const int64_t column = left + lane * kSize - before;

  Acc acc[kSize];
#pragma unroll
  for (int j = 0; j < kSize; ++j) acc[j] = op.identity();
  if (o < m.outer && column < m.inner)
    fold_columns<Lie>(op, m, x, column, first, groups, min(m.axis, (part + 1) * a_part), acc);
  // Groups of a warp, by shuffles: lane after lane has the warp's total.
  for (int mask = kWarpSize / 2; mask >= lanes; mask /= 2)
#pragma unroll
    for (int j = 0; j < kSize; ++j) acc[j] = op.combine(acc[j], from_lane_xor(acc[j], mask));

  if constexpr (Warps == 1) {
    if (o >= m.outer || group != 0) return;
#pragma unroll
    for (int j = 0; j < kSize; ++j)
      if (column + j < m.inner)
        out[o * out_stride + column + j] = finished<Out>(op, acc[j], m.axis);
  } else {
    // (whoever shares a column, columns): warps at first, later those that combine parts. A tile
    // has no more columns than a block has threads.
    __shared__ alignas(16) char memory[kWarps * kWarpSize * kSize * sizeof(Acc)];
    Acc* const shared = reinterpret_cast<Acc*>(memory);
    __shared__ bool last;
    const int warp = int(threadIdx.x) / kWarpSize;
    if (int(threadIdx.x) % kWarpSize < lanes)
#pragma unroll
      for (int j = 0; j < kSize; ++j) {
        const int c = lane * kSize + j - before;
        if (!kShifted || (c >= 0 && c < columns)) shared[warp * columns + c] = acc[j];
      }
    __syncthreads();
    const auto combined = [&](int c, int sharers) {
      Acc total = shared[c];
      for (int s = 1; s < sharers; ++s) total = op.combine(total, shared[s * columns + c]);
      return total;
    };
    // From here on, one thread per column.
    const int c = kShifted ? int(threadIdx.x) % columns : int(threadIdx.x) & (columns - 1);
    bool mine = int(threadIdx.x) < columns && left + c < m.inner;
    Acc total = op.identity();
    if (mine) total = combined(c, kWarps);
    if (parts > 1) {
      Acc* const partials = meeting.partials + tile * parts * columns;
      if (mine) partials[int64_t(part) * columns + c] = total;
      __syncthreads();
      if (threadIdx.x == 0) last = is_last_arrival(meeting.arrivals + tile, unsigned(parts));
      __syncthreads();
      if (!last) return;
      // All threads: where there are fewer columns, several share one.
      const int sharers = kColumnThreads / columns, sharer = int(threadIdx.x) / columns;
      total = op.identity();
      if (left + c < m.inner)
#pragma unroll 16
        for (int p = sharer; p < parts; p += sharers)
          total = op.combine(total, load_fresh(partials + int64_t(p) * columns + c));
      shared[sharer * columns + c] = total;
      __syncwarp();  // the thread that counted comes behind the others
      __syncthreads();
      if (mine) total = combined(c, sharers);
    }
    if (mine) out[o * out_stride + left + c] = finished<Out>(op, total, m.axis);
  }
}

}  // namespace ridge::reduction
