// A thread's packs of a row: of one tensor forward, of two backward.
#pragma once

#include "device/row.cuh"
#include "kernels/softmax/row_op.cuh"

namespace ridge::softmax {

// Slots first, first + lanes, …; what is outside the row changes neither a maximum nor a sum.
template <bool kForward, class T, int Packs, int PacksB>
__device__ __forceinline__ void load_packs(Pack<T> (&a)[Packs], Pack<T> (&b)[PacksB],
                                           const Rows<T>& row, const RowSlots<T>& slots, int first,
                                           int lanes) {
  load_row(a, row.in, slots, first, lanes, from_float<T>(kForward ? -INFINITY : 0.0f));
  if constexpr (!kForward) {
    load_row(b, row.dy, slots, first, lanes, from_float<T>(0.0f));
  }
}

// A block's pass over the row: loads the packs of each turn, then calls f(its first slot).
template <bool kForward, int Threads, class T, int Packs, int PacksB, class F>
__device__ __forceinline__ void for_packs_of_row(Pack<T> (&a)[Packs], Pack<T> (&b)[PacksB],
                                                 const Rows<T>& row, const RowSlots<T>& slots,
                                                 F f) {
  for (int first = threadIdx.x; first < slots.slots; first += Threads * Packs) {
    load_packs<kForward>(a, b, row, slots, first, Threads);
    f(first);
  }
}

}  // namespace ridge::softmax
