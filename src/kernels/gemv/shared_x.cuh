// The products of several rows with the same packs of x.
#pragma once

#include "kernels/gemv/middle.cuh"

namespace ridge::gemv {

// Whether packs of all rows are at the same columns, so that rows can share packs of x.
inline bool rows_lie_alike(const Args& a) {
  return a.rows == 1 || uint64_t(a.a_stride) * size_of(a.dtype) % kPackBytes == 0;
}

// Adds the products of this lane, one of `Lanes` that share the rows. A lane has Unroll packs of
// each row under way. rows: (Rows), which lie alike.
template <int Lanes, int Unroll, class T, int Rows>
__device__ __forceinline__ void add_rows(const T* const (&rows)[Rows], const T* x, int64_t cols,
                                         int lane, float (&sums)[Rows]) {
  constexpr int kSize = kPackSize<T>;
  const auto [begin, packs] = middle_of(rows[0], cols);
  const bool is_x_aligned = is_pack_aligned(x + begin);
  for (int e = lane; e < cols - packs * kSize; e += Lanes) {
    const int64_t c = edge_column<T>(begin, packs, e);
    const float number_x = to_float(x[c]);
#pragma unroll
    for (int r = 0; r < Rows; ++r) sums[r] = fmaf(to_float(rows[r][c]), number_x, sums[r]);
  }
  for (int64_t p = lane; p < packs; p += Unroll * Lanes) {
    Pack<T> packs_a[Unroll][Rows];
#pragma unroll
    for (int u = 0; u < Unroll; ++u)
#pragma unroll
      for (int r = 0; r < Rows; ++r)
        if (p + u * Lanes < packs)
          packs_a[u][r] = load_pack(rows[r] + begin + (p + u * Lanes) * kSize);
#pragma unroll
    for (int u = 0; u < Unroll; ++u)
      if (p + u * Lanes < packs) {
        float numbers_x[kSize];
        load_x(x + begin + (p + u * Lanes) * kSize, is_x_aligned, numbers_x);
#pragma unroll
        for (int r = 0; r < Rows; ++r) add_products(packs_a[u][r], numbers_x, sums[r]);
      }
  }
}

// Rows first_row, first_row + 1, … of A. Behind the last row: that row once more, so that all
// threads do the same.
template <class T, int Rows>
__device__ __forceinline__ void rows_from(const Args& args, int64_t first_row,
                                          const T* (&rows)[Rows]) {
#pragma unroll
  for (int r = 0; r < Rows; ++r)
    rows[r] = static_cast<const T*>(args.a) + min(first_row + r, args.rows - 1) * args.a_stride;
}

}  // namespace ridge::gemv
