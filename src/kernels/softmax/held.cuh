// A row whose packs stay in the registers of the threads that share it, between the one load and
// the one store.
#pragma once

#include "device/held_rows.cuh"
#include "device/row.cuh"
#include "kernels/softmax/max_sum.cuh"

namespace ridge::softmax {

// Exponentials that one thread keeps, if they take more registers than the numbers they come from.
// If there are more of them, they are computed again.
constexpr int kKeptFloats = 32;

constexpr int tensors(Op op) { return is_backward(op) ? 2 : 1; }

// A thread's packs of a row's two inputs; forward operators have one.
template <class T, Op op, int Packs>
struct Held {
  static constexpr bool kForward = !is_backward(op);
  // The value outside of the row, which changes neither maximum nor sum.
  static __device__ __forceinline__ T outside() { return from_float<T>(kForward ? -INFINITY : 0); }

  Pack<T> a[Packs], b[kForward ? 1 : Packs];
};

// `width` lanes of a warp share its row; `exchange` makes one MaxSum of those of all warps that do;
// `store` is given a function from p to what goes where held pack p came from.
template <class T, Op op, int Packs, class Exchange, class Store>
__device__ __forceinline__ void finish_row(const Held<T, op, Packs>& held, int width,
                                           Exchange exchange, Store store) {
  using Operator = RowOp<op, Fast>;
  constexpr int kSize = kPackSize<T>;
  constexpr bool kForward = Operator::kForward;
  constexpr bool kKeeps = op == Op::softmax && (sizeof(T) == 4 || Packs * kSize <= kKeptFloats);

  MaxSum warp = empty<kForward>();
  if constexpr (kForward) {
    warp.max = lanes_max(max_of(held.a, warp.max), width);
  }
  const float base = base_of(warp.max);
  float kept[kKeeps ? Packs : 1][kSize];
#pragma unroll
  for (int p = 0; p < Packs; ++p) {
    float a[kSize], b[kSize] = {};
    to_floats(held.a[p], a);
    if constexpr (!kForward) to_floats(held.b[p], b);
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const float term = Operator::term(a[i], b[i], base);
      warp.sum += term;
      if constexpr (kKeeps) kept[p][i] = term;
    }
  }
  warp.sum = lanes_sum(warp.sum, width);

  const MaxSum whole = exchange(warp);
  const float finished = Operator::finish(whole.sum);
  // Not rescaled(): in a row of nothing but -inf, this makes the NaN there should be.
  const float scale = kKeeps ? Fast::exp(warp.max - whole.max) * finished : 0.0f;
  store([&](int p) {
    float y[kSize], a[kSize], b[kSize] = {};
    if constexpr (!kKeeps) {
      to_floats(held::seen_anew(held.a[p]), a);
      if constexpr (!kForward) to_floats(held::seen_anew(held.b[p]), b);
    }
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      if constexpr (kKeeps) {
        y[i] = kept[p][i] * scale;
      } else {
        y[i] = Operator::result(a[i], b[i], whole.max, finished);
      }
    }
    return from_floats<T>(y);
  });
}

// Thread `first` of `lanes` has slots first, first + lanes …, `Packs` of them. Who does not store
// must not read either, since the row's own lanes may have replaced it already: for those, the row
// has no columns.
template <class T, Op op, int Packs, class Exchange>
__device__ __forceinline__ void hold_row(const Rows<T>& row, int cols, int first, int lanes,
                                         int width, bool stores, Exchange exchange) {
  const RowSlots<T> slots(row.out, stores ? cols : 0);
  Held<T, op, Packs> held;
  load_row(held.a, row.in, slots, first, lanes, held.outside());
  if constexpr (!held.kForward) load_row(held.b, row.dy, slots, first, lanes, held.outside());
  finish_row<T, op, Packs>(held, width, exchange, [&](auto result) {
    store_row<T, Packs>(row.out, slots, first, lanes, result);
  });
}

}  // namespace ridge::softmax
