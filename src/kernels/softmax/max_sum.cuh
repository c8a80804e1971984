// The maximum and the sum of a row of packs: see device/max_sum.cuh. Backward operators only have
// sums.
#pragma once

#include "kernels/softmax/row_op.cuh"

namespace ridge::softmax {

using namespace max_sum;

// Adds packs of a row: their maximum first, so that the sum is scaled once for all of them. A NaN
// is in no maximum, but in every sum.
template <class T, Op op, int Packs, int PacksB>
__device__ __forceinline__ void add_packs(MaxSum& row, const Pack<T> (&a)[Packs],
                                          const Pack<T> (&b)[PacksB]) {
  using Operator = RowOp<op, Fast>;
  float base = 0;
  if constexpr (Operator::kForward) {
    const float max = max_of(a, row.max);
    row.sum *= rescaled(row.max, max);
    row.max = max;
    base = base_of(max);
  }
#pragma unroll
  for (int p = 0; p < Packs; ++p)
#pragma unroll
    for (int i = 0; i < kPackSize<T>; ++i)
      row.sum += Operator::term(to_float(a[p][i]), to_float(b[p % PacksB][i]), base);
}

}  // namespace ridge::softmax
