// The statistics of a row that lies in registers: what the norms along rows share.
#pragma once

#include "device/convert_pack.cuh"
#include "device/held_rows.cuh"
#include "device/moments.cuh"
#include "device/row.cuh"

namespace ridge::row_norm {

template <int N>
__device__ __forceinline__ float sum_of(
    const float (&x)[N]) {  // in a tree: fewer roundings, sooner
  float sums[N / 2];
#pragma unroll
  for (int i = 0; i < N / 2; ++i) sums[i] = x[i] + x[i + N / 2];
  if constexpr (N > 2) return sum_of(sums);
  else return sums[0];
}
template <int N>
__device__ __forceinline__ float squares_of(const float (&x)[N], float mean) {
  float squares[N];
#pragma unroll
  for (int i = 0; i < N; ++i) squares[i] = (x[i] - mean) * (x[i] - mean);
  return sum_of(squares);
}

// Of the packs that `width` neighbouring lanes hold of a row, with 0 for what is outside of it: the
// mean first, and then the distances from it, which costs no second read. If not `centred`, the
// distances are those from 0.
template <class T, int Packs>
__device__ __forceinline__ Moments held_moments(const Pack<T> (&held)[Packs],
                                                const RowSlots<T>& slots, int first, int lanes,
                                                int width, bool centred) {
  constexpr int kSize = kPackSize<T>;
  int count = 0;
  const int base = first & ~(width - 1);  // the slots of these lanes are neighbours
#pragma unroll
  for (int p = 0; p < Packs; ++p) {
    const int begin = slots.begin(base + p * lanes);
    count += max(min(begin + width * kSize, slots.cols) - max(begin, 0), 0);
  }
  Moments m = {float(count), 0, 0};
  if (centred) {
    float sum = 0;
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      float x[kSize];
      to_floats(held[p], x);
      sum += sum_of(x);
    }
    sum = lanes_sum(sum, width);
    if (count > 0) m.mean = sum / m.count;
  }
  const SlotRange full = slots.full(0);
#pragma unroll
  for (int p = 0; p < Packs; ++p) {
    if (!full.has(first + p * lanes)) continue;
    float x[kSize];
    to_floats(held::seen_anew(held[p]), x);
    m.m2 += squares_of(x, m.mean);
  }
  if (int(full.count) < slots.slots) {  // the first and the last slot may be partly outside
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      const int slot = first + p * lanes, begin = slots.begin(slot);
      if (slot >= slots.slots || full.has(slot)) continue;
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        const float d = to_float(held[p][i]) - m.mean;
        if (begin + i >= 0 && begin + i < slots.cols) m.m2 += d * d;
      }
    }
  }
  m.m2 = lanes_sum(m.m2, width);
  return m;
}

// What a row is normalised by.
struct Statistics {
  float mean, rstd;
  __device__ __forceinline__ Statistics(const Moments& row, float epsilon)
      : mean(row.mean), rstd(rsqrtf(row.m2 / row.count + epsilon)) {}
};

}  // namespace ridge::row_norm
