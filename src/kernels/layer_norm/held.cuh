// A thread's packs of a row: loaded, normalised, stored.
#pragma once

#include "device/row_norm.cuh"
#include "kernels/layer_norm/rows.cuh"

namespace ridge::layer_norm {

// Slots follow the boundaries of the sum where there is one, else those of y.
template <bool Added, class T>
__device__ __forceinline__ RowSlots<T> slots_of(const Rows<T>& row, int cols) {
  return RowSlots<T>(Added ? row.sum : row.y, cols);
}
inline int64_t most_slots(const Args& a) {
  if (a.backward) return (a.cols * int64_t(size_of(a.dtype)) + kPackBytes - 1) / kPackBytes;
  return ridge::most_slots(a.residual ? a.sum : a.y, a.rows, a.cols,
                           a.residual ? a.sum_stride : a.y_stride, int64_t(size_of(a.dtype)));
}

// What is normalised, for the first time: x, or the sum, which is stored.
template <bool Added, class T, int Packs>
__device__ __forceinline__ void load_first(Pack<T> (&held)[Packs], const Rows<T>& row,
                                           const RowSlots<T>& slots, int first, int lanes) {
  load_row(held, row.x, slots, first, lanes, T(0.0f));
  if constexpr (Added) {
    constexpr int kSize = kPackSize<T>;
    Pack<T> residual[Packs];
    load_row(residual, row.residual, slots, first, lanes, T(0.0f));
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      float x[kSize], more[kSize];
      to_floats(held[p], x);
      to_floats(residual[p], more);
#pragma unroll
      for (int i = 0; i < kSize; ++i) x[i] += more[i];
      held[p] = from_floats<T>(x);
    }
    store_row<T, Packs>(row.sum, slots, first, lanes, [&](int p) { return held[p]; });
  }
}

template <bool Added, class T, int Packs>
__device__ __forceinline__ void store_normalised(const Pack<T> (&held)[Packs], const Rows<T>& row,
                                                 const RowSlots<T>& slots, int first, int lanes,
                                                 const row_norm::Statistics& by) {
  constexpr int kSize = kPackSize<T>;
  const RowBeside<T> gamma(row.gamma, slots), beta(row.beta, slots);
  const auto normalised = [&](int p) {
    float y[kSize], weight[kSize];
    to_floats(held::seen_anew(held[p]), y);
#pragma unroll
    for (int i = 0; i < kSize; ++i) y[i] = (y[i] - by.mean) * by.rstd;
    if (row.gamma) {
      to_floats(gamma.load(slots, first + p * lanes), weight);
#pragma unroll
      for (int i = 0; i < kSize; ++i) y[i] *= weight[i];
    }
    if (row.beta) {
      to_floats(beta.load(slots, first + p * lanes), weight);
#pragma unroll
      for (int i = 0; i < kSize; ++i) y[i] += weight[i];
    }
    return from_floats<T>(y);
  };
  if constexpr (Added) {
#pragma unroll
    for (int p = 0; p < Packs; ++p)
      if (first + p * lanes < slots.slots)
        store_beside(row.y, slots, first + p * lanes, normalised(p));
  } else {
    store_row<T, Packs>(row.y, slots, first, lanes, normalised);
  }
}

// Thread `first` of `lanes` holds slots first, first + lanes …; `width` lanes of its warp share the
// row; `exchange` makes one Moments of those of all warps that do. Who does not store must not read
// either, since the row's own lanes may have replaced it already: for those, the row has no
// columns.
template <bool Added, class T, int Packs, class Exchange>
__device__ __forceinline__ void hold_row(const Args& a, int64_t r, int first, int lanes, int width,
                                         bool stores, Exchange exchange) {
  const Rows<T> row(a, r);
  const RowSlots<T> slots = slots_of<Added>(row, stores ? int(a.cols) : 0);
  Pack<T> held[Packs];
  load_first<Added>(held, row, slots, first, lanes);
  const row_norm::Statistics by(
      exchange(row_norm::held_moments(held, slots, first, lanes, width, a.centred)), a.epsilon);
  if (!stores) return;
  store_normalised<Added>(held, row, slots, first, lanes, by);
  if (first == 0) put_statistics(a, r, by.mean, by.rstd);
}

// Calls f(T(), std::bool_constant<whether there is a residual>()).
template <class F>
auto with_type_and_residual(const Args& a, F f) {
  return with_float_type(a.dtype, [&](auto t) {
    return a.residual ? f(t, std::true_type()) : f(t, std::false_type());
  });
}

}  // namespace ridge::layer_norm
