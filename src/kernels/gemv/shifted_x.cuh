// The products of rows that lie anywhere: packs of A as they are aligned, and the x that belongs to
// them shifted together from two aligned packs of x.
#pragma once

#include <algorithm>
#include <type_traits>

#include "device/shifted.cuh"
#include "kernels/gemv/middle.cuh"
#include "kernels/gemv/shapes.cuh"

namespace ridge::gemv {

// Whether each row of A is as far from a boundary as x is, so that packs of A meet packs of x.
inline bool is_congruent(const Args& a) {
  const auto size = int64_t(size_of(a.dtype));
  const auto phase = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % kPackBytes; };
  return phase(a.a) == phase(a.x) && (a.rows == 1 || uint64_t(a.a_stride * size) % kPackBytes == 0);
}

// The packs of a row whose x is inside two aligned packs of x. Where A and x are not congruent, a
// pack at either end may become part of the edges.
template <bool Congruent, class T>
__device__ __forceinline__ Middle middle_of(const T* a, const T* x, int64_t cols) {
  constexpr int kSize = kPackSize<T>;
  int begin = elements_to_alignment(a);
  int64_t packs = (cols - begin) / kSize;
  if (!Congruent && packs > 0) {
    const int before = int(reinterpret_cast<uintptr_t>(x + begin) % kPackBytes / sizeof(T));
    if (before > begin) {
      begin += kSize;
      --packs;
    }
    if (before > 0 && begin + packs * kSize + (kSize - before) > cols) --packs;
  }
  return {begin, max(packs, int64_t(0))};
}

// Where the middle of a row is, and the x that goes with it.
template <class T, class Count>
struct Row {
  const T* a;           // (cols)
  const int4* x_packs;  // from `shift` bytes before x + begin on, which is a boundary
  int begin, shift;
  Count packs;

  // One of the columns outside the packs.
  __device__ __forceinline__ int64_t edge_column(int e) const {
    return e < begin ? e : e + int64_t(packs) * kPackSize<T>;
  }
};

// The products of this lane, one of those that share the rows. Blocks of the same rows differ in
// blockIdx.y: each adds packs_per_block packs of each row, and the first adds the edges too.
template <class T, Shape kShape, bool Congruent>
__device__ __forceinline__ void sum_rows(const Args& args, int64_t first_row, int lane,
                                         int64_t packs_per_block, float (&sum)[kShape.rows]) {
  constexpr int kSize = kPackSize<T>, kLanes = kShape.lanes, kUnroll = kShape.unroll;
  constexpr int kRows = kShape.rows;
  using Count = std::conditional_t<kShape.is_short(), int, int64_t>;
  const T* const x = static_cast<const T*>(args.x);  // (cols)

  // Congruent rows differ in nothing but `a`.
  Row<T, Count> rows[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    // Past the end: the last row once more, so that shuffles are full.
    const T* const a =
        static_cast<const T*>(args.a) + min(first_row + r, args.rows - 1) * args.a_stride;
    if (Congruent && r > 0) {
      rows[r] = rows[0];
      rows[r].a = a;
      continue;
    }
    const auto [begin, packs] = middle_of<Congruent>(a, x, args.cols);
    const auto at = reinterpret_cast<uintptr_t>(x + begin);
    const int shift = Congruent ? 0 : int(at % kPackBytes);
    rows[r] = {a, reinterpret_cast<const int4*>(at - uintptr_t(shift)), begin, shift, Count(packs)};
  }

  const auto edges_of = [&](const Row<T, Count>& row) {
    return blockIdx.y == 0 ? int(args.cols - int64_t(row.packs) * kSize) : 0;
  };
  float edge_a[kRows] = {}, edge_x[kRows] = {};
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    if (lane < edges_of(rows[r])) {
      const int64_t c = rows[r].edge_column(lane);
      edge_a[r] = to_float(rows[r].a[c]);
      edge_x[r] = to_float(x[c]);
    }

  float sums[kRows][kUnroll] = {};
  const auto add = [&](Count p, auto inside) {  // packs p, p + kLanes, … where they are inside
    Pack<T> packs_a[kRows][kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        packs_a[r][u] = {};  // all bits 0 are zeros
        if (inside(u, rows[r]))
          packs_a[r][u] = load_pack(rows[r].a + rows[r].begin + (p + u * kLanes) * kSize);
      }
#pragma unroll
    for (int r = 0; r < (Congruent ? 1 : kRows); ++r) {
      int4 packs_x[kUnroll], next_x[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        packs_x[u] = next_x[u] = {};
        const int4* const at = rows[r].x_packs + p + u * kLanes;
        if (inside(u, rows[r])) packs_x[u] = __ldg(at);
        if (!Congruent && inside(u, rows[r]) && rows[r].shift) next_x[u] = __ldg(at + 1);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        float fx[kSize], fa[kSize];
        to_floats(bytes_as<Pack<T>>(Congruent ? packs_x[u]
                                              : shifted(packs_x[u], next_x[u], rows[r].shift)),
                  fx);
#pragma unroll
        for (int q = r; q < (Congruent ? kRows : r + 1); ++q) {
          to_floats(packs_a[q][u], fa);
#pragma unroll
          for (int i = 0; i < kSize; ++i) sums[q][u] = fmaf(fa[i], fx[i], sums[q][u]);
        }
      }
    }
  };
  if constexpr (kShape.is_short()) {
    add(lane, [&](int u, const Row<T, Count>& row) { return lane + u * kLanes < row.packs; });
  } else {
    // Rows with their own x are taken one at a time: they do not end together.
    static_assert(Congruent || kRows == 1);
    const int64_t end = min(rows[0].packs, (int64_t(blockIdx.y) + 1) * packs_per_block);
    int64_t p = int64_t(blockIdx.y) * packs_per_block;  // of lane 0, so that all lanes turn alike
    for (; p + kShape.turn() <= end; p += kShape.turn())
      add(p + lane, [](int, const auto&) { return true; });
    if (p < end) add(p + lane, [&](int u, const auto&) { return p + lane + u * kLanes < end; });
  }

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    sum[r] = edge_a[r] * edge_x[r];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) sum[r] += sums[r][u];
    if constexpr (kLanes < kWarpSize) {  // fewer lanes than edges
      for (int e = lane + kLanes; e < edges_of(rows[r]); e += kLanes) {
        const int64_t c = rows[r].edge_column(e);
        sum[r] = fmaf(to_float(rows[r].a[c]), to_float(x[c]), sum[r]);
      }
    }
  }
}

// Calls f(shape, congruent) with types for both, as kernels want them. Long rows have one kernel
// only, because a lane works on one row if each row has its own x.
template <class F>
void with_shape(const Shape& shape, bool congruent, F f) {
  with_shape(shape, [&](auto at) {
    constexpr Shape kShape = decltype(at)::value;
    if constexpr (!kShape.is_short()) f(at, std::bool_constant<(kShape.rows > 1)>());
    else if (congruent) f(at, std::true_type());
    else f(at, std::false_type());
  });
}
inline Shape shape_for(const Args& a, bool congruent) {
  const size_t size = size_of(a.dtype);
  const int64_t packs = a.cols * int64_t(size) / kPackBytes;
  const Shape* const short_shape = short_shape_for(packs);
  return short_shape ? *short_shape : long_shape_for(packs, congruent ? 2 : 1, size);
}

}  // namespace ridge::gemv
