// A thread's packs of a row: loaded, normalised, stored.
#pragma once

#include "device/convert_pack.cuh"
#include "device/held_rows.cuh"
#include "device/row.cuh"
#include "device/row_norm.cuh"
#include "kernels/group_norm/groups.cuh"

namespace ridge::group_norm {

inline int64_t most_slots(const Args& a) {
  return ridge::most_slots(a.y, a.rows(), a.cols(), a.cols(), int64_t(size_of(a.dtype)));
}

// Thread `first` of `lanes` holds slots first, first + lanes …; `exchange` makes one Moments of
// those of all warps that share the row.
template <class T, int Packs, class Exchange>
__device__ __forceinline__ void hold_row(const Args& a, const Divider& by_inner, int64_t r,
                                         int first, int lanes, Exchange exchange) {
  constexpr int kSize = kPackSize<T>;
  const Group<T> row(a, r, by_inner);
  const RowSlots<T> slots(row.y, row.cols);
  Pack<T> held[Packs];
  load_row(held, row.x, slots, first, lanes, T(0.0f));
  const row_norm::Statistics by(
      exchange(row_norm::held_moments(held, slots, first, lanes, kWarpSize, true)), a.epsilon);
  store_row<T, Packs>(row.y, slots, first, lanes, [&](int p) {
    float y[kSize];
    to_floats(held::seen_anew(held[p]), y);
    const int begin = slots.begin(first + p * lanes);
    const int from = max(begin, 0), to = min(begin + kSize, row.cols) - 1;
    const bool is_one = row.inner.quotient(from) == row.inner.quotient(to);
    float factor = row.factor(from), summand = row.summand(from);
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      if (!is_one) {
        const int at = min(max(begin + i, from), to);
        factor = row.factor(at);
        summand = row.summand(at);
      }
      y[i] = (y[i] - by.mean) * by.rstd * factor + summand;
    }
    return from_floats<T>(y);
  });
  if (first == 0) put_statistics(a, r, by.mean, by.rstd);
}

}  // namespace ridge::group_norm
