// A row whose packs stay in the registers of the threads that share it, between the one load and
// the one store.
#pragma once

#include "device/row.cuh"
#include "kernels/softmax/max_sum.cuh"

namespace ridge::softmax {

constexpr int kKeptFloats = 32;  // exponentials kept a thread; where there are more, made again

// A thread's packs of a row's two inputs; forward operators have one.
template <class T, Op op, int Packs>
struct Held {
  static constexpr bool kForward = !is_backward(op);
  // What is outside the row, and changes neither maximum nor sum.
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
  constexpr bool kKeeps = op == Op::softmax && Packs * kSize <= kKeptFloats;

  MaxSum warp = empty<kForward>();
  if constexpr (kForward) {
    warp.max = lanes_max(max_of(held.a, warp.max), width);
  }
  const float base = base_of(warp.max);
  float kept[kKeeps ? Packs : 1][kSize];
  const auto a = [&](int p, int i) { return to_float(held.a[p][i]); };
  const auto b = [&](int p, int i) { return kForward ? 0.0f : to_float(held.b[p][i]); };
#pragma unroll
  for (int p = 0; p < Packs; ++p)
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const float term = Operator::term(a(p, i), b(p, i), base);
      warp.sum += term;
      if constexpr (kKeeps) kept[p][i] = term;
    }
  warp.sum = lanes_sum(warp.sum, width);

  const MaxSum whole = exchange(warp);
  const float finished = Operator::finish(whole.sum);
  // Not rescaled(): in a row of nothing but -inf, this makes the NaN there should be.
  const float scale = kKeeps ? Fast::exp(warp.max - whole.max) * finished : 0.0f;
  store([&](int p) {
    float y[kSize];
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      if constexpr (kKeeps) {
        y[i] = kept[p][i] * scale;
      } else {
        y[i] = Operator::result(a(p, i), b(p, i), whole.max, finished);
      }
    }
    return from_floats<T>(y);
  });
}

// Thread `first` of `lanes` has slots first, first + lanes …, `Packs` of them.
template <class T, Op op, int Packs, class Exchange>
__device__ __forceinline__ void hold_row(const Rows<T>& row, int cols, int first, int lanes,
                                         int width, bool stores, Exchange exchange) {
  const RowSlots<T> slots(row.out, cols);
  Held<T, op, Packs> held;
  load_row(held.a, row.in, slots, first, lanes, held.outside());
  if constexpr (!held.kForward) load_row(held.b, row.dy, slots, first, lanes, held.outside());
  finish_row<T, op, Packs>(held, width, exchange, [&](auto result) {
    if (stores) store_row<T, Packs>(row.out, slots, first, lanes, result);
  });
}

}  // namespace ridge::softmax
