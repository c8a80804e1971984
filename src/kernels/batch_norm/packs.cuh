// What a thread of the vector rung sees of a channel: many numbers at a time, with one division for
// all of them.
#pragma once

#include "device/convert_pack.cuh"
#include "device/row.cuh"
#include "device/row_norm.cuh"
#include "kernels/batch_norm/slices.cuh"

namespace ridge::batch_norm {

// Elements of one slot: those in [low, high) lie inside the run.
template <class T>
struct Part {
  Pack<T> x, dy;
  int low = 0, high = 0;
};

// The runs (outer, channel c) of a channel, cut into slots at the 16-byte boundaries of x. Slot
// numbers count through all runs, `per_run` for each: the most that any run can have.
template <class T>
struct Runs {
  const T *x, *dy;
  int64_t step;  // from run to run
  int inner;
  Divider per_run;

  __device__ __forceinline__ Runs(const Args& a, int64_t c, const Divider& per_run)
      : x(static_cast<const T*>(a.x) + c * a.inner),
        dy(static_cast<const T*>(a.dy) + c * a.inner),
        step(a.channels * a.inner),
        inner(int(a.inner)),
        per_run(per_run) {}

  // N slots, `apart` from one another, of those before `end`. Loads of full slots come first, so
  // that they are under way together.
  template <bool kBackward, int N>
  __device__ __forceinline__ void load(Part<T> (&parts)[N], int64_t first, int apart,
                                       int64_t end) const {
    constexpr int kSize = kPackSize<T>;
    int64_t begins[N];  // of the slots, in x
#pragma unroll
    for (int p = 0; p < N; ++p) {
      const int64_t i = first + p * apart;
      parts[p].low = parts[p].high = 0;
      begins[p] = 0;
      if (i >= end) continue;
      const int64_t o = per_run.quotient(i);
      const int slot = int(i - o * per_run.divisor());
      const RowSlots<T> slots(x + o * step, inner);
      const int begin = slots.begin(slot);
      begins[p] = o * step + begin;
      parts[p].low = max(-begin, 0);
      parts[p].high = max(min(inner - begin, kSize), 0);
    }
#pragma unroll
    for (int p = 0; p < N; ++p)
      if (is_full(parts[p])) parts[p].x = load_pack(x + begins[p]);
    if constexpr (kBackward) {
#pragma unroll
      for (int p = 0; p < N; ++p)
        if (is_full(parts[p]) && is_pack_aligned(dy + begins[p]))
          parts[p].dy = load_pack(dy + begins[p]);
    }
#pragma unroll
    for (int p = 0; p < N; ++p) {
      if (parts[p].low >= parts[p].high) continue;
      if (!is_full(parts[p])) load_edge(parts[p].x, x + begins[p], parts[p]);
      if constexpr (kBackward)
        if (!is_full(parts[p]) || !is_pack_aligned(dy + begins[p]))
          load_edge(parts[p].dy, dy + begins[p], parts[p]);
    }
  }

 private:
  static __device__ __forceinline__ bool is_full(const Part<T>& part) {
    return part.high - part.low == kPackSize<T>;
  }
  static __device__ __forceinline__ void load_edge(Pack<T>& pack, const T* from,
                                                   const Part<T>& part) {
    pack = row::filled_with(T(0.0f));
#pragma unroll
    for (int i = 0; i < kPackSize<T>; ++i)
      if (i >= part.low && i < part.high) pack[i] = from[i];
  }
};

// The moments of the parts: their mean first, then the distances from it.
template <class T, int N>
__device__ __forceinline__ Moments moments_of(const Part<T> (&parts)[N]) {
  constexpr int kSize = kPackSize<T>;
  float sum = 0;
  int count = 0;
#pragma unroll
  for (int p = 0; p < N; ++p) {
    if (parts[p].low >= parts[p].high) continue;
    float x[kSize];
    to_floats(parts[p].x, x);  // 0 outside of the run
    sum += row_norm::sum_of(x);
    count += parts[p].high - parts[p].low;
  }
  Moments m = {float(count), count > 0 ? sum / float(count) : 0, 0};
#pragma unroll
  for (int p = 0; p < N; ++p) {
    if (parts[p].low >= parts[p].high) continue;
    float x[kSize];
    to_floats(held::seen_anew(parts[p].x), x);
    if (parts[p].high - parts[p].low == kSize) {
      m.m2 += row_norm::squares_of(x, m.mean);
    } else {
#pragma unroll
      for (int i = 0; i < kSize; ++i)
        if (i >= parts[p].low && i < parts[p].high) m.m2 += (x[i] - m.mean) * (x[i] - m.mean);
    }
  }
  return m;
}
template <class T, int N>
__device__ __forceinline__ Sums sums_of(const Part<T> (&parts)[N], float mean, float rstd) {
  constexpr int kSize = kPackSize<T>;
  Sums s;
#pragma unroll
  for (int p = 0; p < N; ++p) {
    if (parts[p].low >= parts[p].high) continue;
    float x[kSize], dy[kSize];
    to_floats(parts[p].x, x);
    to_floats(parts[p].dy, dy);  // 0 outside of the run
    s.dy += row_norm::sum_of(dy);
#pragma unroll
    for (int i = 0; i < kSize; ++i) x[i] = dy[i] * ((x[i] - mean) * rstd);
    s.product += row_norm::sum_of(x);
  }
  return s;
}

// Channels last: N neighbouring channels, of which a thread sees R numbers at a time. All have as
// many, so one division serves them.
template <int N>
struct ColumnMoments {
  float count = 0, mean[N] = {}, m2[N] = {};

  // x[r][i] of the first `rows` rows.
  template <int R>
  __device__ __forceinline__ void add(const float (&x)[R][N], int rows) {
    const float more = float(rows), all = count + more, part = more / all, share = 1 / more;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      float sum = 0, squares = 0;
#pragma unroll
      for (int r = 0; r < R; ++r)
        if (r < rows) sum += x[r][i];
      const float at = sum * share;
#pragma unroll
      for (int r = 0; r < R; ++r)
        if (r < rows) squares += (x[r][i] - at) * (x[r][i] - at);
      const float d = count > 0 ? at - mean[i] : 0;
      mean[i] = count > 0 ? mean[i] + d * part : at;
      m2[i] += squares + d * d * (count * part);
    }
    count = all;
  }
};

}  // namespace ridge::batch_norm
