// Neighbouring columns that one thread sums. If all rows are whole packs, a thread sums the columns
// of one pack (`Size` of them); otherwise it sums one column (`Size` is 1).
#pragma once

#include "device/convert.cuh"
#include "device/from_detail.cuh"
#include "kernels/gemv_t/gemv_t.h"

namespace ridge::gemv_t {

constexpr int kRowsUnderWay = 8;  // rows that a thread loads before it uses the first

inline bool rows_are_whole_packs(const Args& a) {
  const int64_t pack = kPackBytes / int64_t(size_of(a.dtype));
  return is_pack_aligned(a.a) && a.cols % pack == 0 && (a.rows <= 1 || a.a_stride % pack == 0);
}
inline int64_t columns_per_thread(const Args& a) {
  return rows_are_whole_packs(a) ? kPackBytes / int64_t(size_of(a.dtype)) : 1;
}

// Adds the rows row, row + step, … before `end`, each times its x, for the columns from `col` on.
template <class T, int Size>
__device__ __forceinline__ void add_rows(const Args& args, int64_t col, int64_t row, int64_t step,
                                         int64_t end, float (&sums)[Size]) {
  using Columns = Pack<T, Size>;
  const T* const a = static_cast<const T*>(args.a) + col;  // (rows, Size), a_stride apart
  const T* const x = static_cast<const T*>(args.x);        // (rows)
  const auto add = [&](auto is_row) {
    const T* const at = a + row * args.a_stride;
    Columns packs[kRowsUnderWay];
    T factors[kRowsUnderWay];
#pragma unroll
    for (int u = 0; u < kRowsUnderWay; ++u) {
      packs[u] = {};  // all bits 0 are zeros
      if (is_row(u)) packs[u] = *reinterpret_cast<const Columns*>(at + u * step * args.a_stride);
    }
#pragma unroll
    for (int u = 0; u < kRowsUnderWay; ++u) factors[u] = is_row(u) ? x[row + u * step] : T();
#pragma unroll
    for (int u = 0; u < kRowsUnderWay; ++u)
#pragma unroll
      for (int i = 0; i < Size; ++i)
        sums[i] = fmaf(to_float(packs[u][i]), to_float(factors[u]), sums[i]);
  };
  for (; row + (kRowsUnderWay - 1) * step < end; row += kRowsUnderWay * step)
    add([](int) { return true; });
  if (row < end) add([&](int u) { return row + u * step < end; });
}

}  // namespace ridge::gemv_t
