// A row whose packs stay in the registers of the threads that share it, between the one load and
// the one store.
#pragma once

#include "device/row.cuh"
#include "kernels/softmax/max_sum.cuh"

namespace ridge::softmax {

constexpr int kKeptFloats = 32;  // exponentials kept a thread; where there are more, made again

// Thread `first` of `lanes` has slots first, first + lanes …, `Packs` of them; `width` lanes of its
// warp share its row. `exchange` makes one MaxSum of those of all warps that do.
template <class T, Op op, int Packs, class Exchange>
__device__ __forceinline__ void hold_row(const Rows<T>& row, int cols, int first, int lanes,
                                         int width, bool stores, Exchange exchange) {
  using Operator = RowOp<op, Fast>;
  constexpr int kSize = kPackSize<T>;
  constexpr bool kForward = Operator::kForward;
  constexpr bool kKeeps = op == Op::softmax && Packs * kSize <= kKeptFloats;
  const RowSlots<T> slots(row.out, cols);

  Pack<T> a[Packs], b[kForward ? 1 : Packs];
  load_row(a, row.in, slots, first, lanes, from_float<T>(kForward ? -INFINITY : 0.0f));
  if constexpr (!kForward) {
    load_row(b, row.dy, slots, first, lanes, from_float<T>(0.0f));
  } else {
    b[0] = a[0];  // read by nobody
  }

  MaxSum warp = empty<kForward>();
  if constexpr (kForward) {
    warp.max = lanes_max(max_of(a, warp.max), width);
  }
  const float base = base_of(warp.max);
  float kept[kKeeps ? Packs : 1][kSize];
#pragma unroll
  for (int p = 0; p < Packs; ++p)
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const float term = Operator::term(to_float(a[p][i]), to_float(b[kForward ? 0 : p][i]), base);
      warp.sum += term;
      if constexpr (kKeeps) kept[p][i] = term;
    }
  warp.sum = lanes_sum(warp.sum, width);

  const MaxSum whole = exchange(warp);
  if (!stores) return;
  const float finished = Operator::finish(whole.sum);
  // Not rescaled(): in a row of nothing but -inf, this makes the NaN there should be.
  const float scale = kKeeps ? Fast::exp(warp.max - whole.max) * finished : 0.0f;
  store_row<T, Packs>(row.out, slots, first, lanes, [&](int p) {
    Pack<T> y;
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      if constexpr (kKeeps) {
        y[i] = from_float<T>(kept[p][i] * scale);
      } else {
        y[i] = from_float<T>(Operator::result(to_float(a[p][i]), to_float(b[kForward ? 0 : p][i]),
                                              whole.max, finished));
      }
    }
    return y;
  });
}

}  // namespace ridge::softmax
