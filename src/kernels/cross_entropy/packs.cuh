// The statistics of packs of a row, and the gradient written from them.
#pragma once

#include "device/held_rows.cuh"
#include "kernels/cross_entropy/rows.cuh"

namespace ridge::cross_entropy {

// The distances from the pivot of what lies inside the row: outside of it packs hold -inf.
template <class T, int Packs>
__device__ __forceinline__ float total_of(const Pack<T> (&packs)[Packs], const RowSlots<T>& slots,
                                          int first, int lanes, float pivot) {
  float total = 0;
#pragma unroll
  for (int p = 0; p < Packs; ++p) {
    const int begin = slots.begin(first + p * lanes);
#pragma unroll
    for (int i = 0; i < kPackSize<T>; ++i)
      if (begin + i >= 0 && begin + i < slots.cols) total += to_float(packs[p][i]) - pivot;
  }
  return total;
}

template <class T, int Packs>
__device__ __forceinline__ float sum_of_exponentials(const Pack<T> (&packs)[Packs], float base) {
  float sum = 0;
#pragma unroll
  for (int p = 0; p < Packs; ++p) {
    float x[kPackSize<T>];
    to_floats(packs[p], x);
#pragma unroll
    for (int i = 0; i < kPackSize<T>; ++i) sum += Fast::exp(x[i] - base);
  }
  return sum;
}

// Slots [begin, end) of a row by a block, kPacks packs per thread under way. end is the row's last,
// or a whole number of turns past begin.
template <int Threads, int Packs, class T>
__device__ __forceinline__ Statistics stream_statistics(const Args& a, const Row<T>& row,
                                                        const RowSlots<T>& slots, int begin,
                                                        int end) {
  Statistics s;
  Pack<T> packs[Packs];
  for (int first = begin + int(threadIdx.x); first < end; first += Threads * Packs) {
    load_row(packs, row.logits, slots, first, Threads, from_float<T>(-INFINITY));
    const float max = max_sum::max_of(packs, s.max);
    s.sum =
        s.sum * max_sum::rescaled(s.max, max) + sum_of_exponentials(packs, max_sum::base_of(max));
    s.max = max;
    if (a.smoothing > 0) s.total += total_of(packs, slots, first, Threads, row.pivot);
  }
  return s;
}
template <int Threads, int Packs, class T>
__device__ __forceinline__ void stream_gradient(const Row<T>& row, const RowSlots<T>& slots,
                                                const Gradient& gradient, int begin, int end) {
  Pack<T> packs[Packs];
  for (int first = begin + int(threadIdx.x); first < end; first += Threads * Packs) {
    if (!gradient.is_zero)
      load_row(packs, row.logits, slots, first, Threads, from_float<T>(-INFINITY));
    store_row<T, Packs>(row.dlogits, slots, first, Threads, [&](int p) {
      return gradient.of(packs[p], slots.begin(first + p * Threads));
    });
  }
}

// Thread `first` of `lanes` holds slots first, first + lanes …; `width` lanes of its warp share the
// row; `exchange` makes one Statistics of those of all warps that do.
template <class T, int Packs, class Exchange>
__device__ __forceinline__ void hold_row(const Args& a, int64_t r, int first, int lanes, int width,
                                         bool stores, Exchange exchange) {
  const Row<T> row(a, r, stores);
  const RowSlots<T> slots = row.slots(a);
  Pack<T> held[Packs];
  const T outside = from_float<T>(-INFINITY);
  // Who does not store must not read either: the row's own lanes may have replaced its logits.
  if (row.target.is_ignored || !stores) {
#pragma unroll
    for (int p = 0; p < Packs; ++p) held[p] = row::filled_with(outside);
  } else {
    load_row(held, row.logits, slots, first, lanes, outside);
  }
  Statistics whole;
  if (!a.backward) {
    Statistics warp;
    warp.max = lanes_max(max_sum::max_of(held, -INFINITY), width);
    warp.sum = lanes_sum(sum_of_exponentials(held, max_sum::base_of(warp.max)), width);
    if (a.smoothing > 0)
      warp.total = lanes_sum(total_of(held, slots, first, lanes, row.pivot), width);
    whole = exchange(warp);
    if (stores && first == 0) put_loss(a, r, row, whole);
  }
  if (!stores || !row.dlogits) return;
  const Gradient gradient(a, r, row.target, whole);
  store_row<T, Packs>(row.dlogits, slots, first, lanes, [&](int p) {
    return gradient.of(held::seen_anew(held[p]), slots.begin(first + p * lanes));
  });
}

inline int64_t most_slots(const Args& a) {
  const bool writes = a.dlogits != nullptr;
  return ridge::most_slots(writes ? a.dlogits : a.logits, a.rows, a.cols,
                           writes ? a.dlogits_stride : a.logits_stride, int64_t(size_of(a.dtype)));
}

}  // namespace ridge::cross_entropy
