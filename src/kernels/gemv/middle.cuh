// A row of A as packs of 16 bytes in the middle, and single elements at its edges.
#pragma once

#include "device/convert_pack.cuh"
#include "device/from_detail.cuh"
#include "kernels/gemv/finish.cuh"

namespace ridge::gemv {

// Columns begin … begin + packs * kPackSize are whole packs, aligned to 16 bytes.
struct Middle {
  int begin;
  int64_t packs;
};
template <class T>
__device__ __forceinline__ Middle middle_of(const T* a, int64_t cols) {
  const int begin = elements_to_alignment(a);
  return {begin, max((cols - begin) / kPackSize<T>, int64_t(0))};
}

// The other columns are the edges: up to 30 of them, before and behind the packs.
template <class T, class Count>
__device__ __forceinline__ int64_t edge_column(int begin, Count packs, int e) {
  return e < begin ? e : e + int64_t(packs) * kPackSize<T>;
}

// Elements of x beside a pack of A, as numbers: one load where they are a pack too, else one load
// per element.
template <class T>
__device__ __forceinline__ void load_x(const T* x, bool is_aligned,
                                       float (&numbers)[kPackSize<T>]) {
  if (is_aligned) {
    to_floats(load_pack(x), numbers);
    return;
  }
#pragma unroll
  for (int i = 0; i < kPackSize<T>; ++i) numbers[i] = to_float(x[i]);
}

template <class T>
__device__ __forceinline__ void add_products(const Pack<T>& a, const float (&x)[kPackSize<T>],
                                             float& sum) {
  float numbers[kPackSize<T>];
  to_floats(a, numbers);
#pragma unroll
  for (int i = 0; i < kPackSize<T>; ++i) sum = fmaf(numbers[i], x[i], sum);
}

}  // namespace ridge::gemv
