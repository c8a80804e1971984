// Tensors of one shape, walked as matrices: how kernels for two dimensions serve any number.
#pragma once

#include <algorithm>
#include <array>

#include "core/status.h"
#include "operator/memory_order.h"
#include "ridge/tensor.h"

namespace ridge::ops {

// Tensors of one shape as few rows and columns as possible. Dimensions that lie one after another
// in all of them are merged; what is left beyond two is walked, slab by slab.
template <size_t N>
struct Slab {
  int64_t rows = 1, cols = 1;
  std::array<int64_t, N> stride = {}, step = {};  // elements from row to row, from column to column
  std::array<void*, N> data = {};
};
template <size_t N, class F>
Status each_slab(const std::array<const Tensor*, N>& tensors, F f) {
  // Merged dimensions, outermost first.
  int rank = 0;
  std::array<int64_t, kMaxRank> size = {};
  std::array<std::array<int64_t, N>, kMaxRank> strides = {};
  for (int d = 0; d < tensors[0]->rank; ++d) {
    if (tensors[0]->shape[size_t(d)] == 1) continue;
    bool merges = rank > 0;
    for (size_t t = 0; t < N && merges; ++t)
      merges = strides[size_t(rank - 1)][t] ==
               tensors[t]->strides[size_t(d)] * tensors[t]->shape[size_t(d)];
    if (!merges) size[size_t(rank++)] = 1;
    size[size_t(rank - 1)] *= tensors[0]->shape[size_t(d)];
    for (size_t t = 0; t < N; ++t) strides[size_t(rank - 1)][t] = tensors[t]->strides[size_t(d)];
  }
  Slab<N> slab;
  if (rank >= 1) slab.cols = size[size_t(rank - 1)];
  if (rank >= 2) slab.rows = size[size_t(rank - 2)];
  for (size_t t = 0; t < N; ++t) {
    slab.step[t] = rank >= 1 ? strides[size_t(rank - 1)][t] : 1;
    slab.stride[t] = rank >= 2 ? strides[size_t(rank - 2)][t] : slab.cols * slab.step[t];
  }
  const int outer = std::max(rank - 2, 0);
  for (int d = 0; d < outer; ++d)
    if (size[size_t(d)] == 0) return Status::ok();
  std::array<int64_t, kMaxRank> at = {};
  while (true) {
    for (size_t t = 0; t < N; ++t) {
      int64_t offset = 0;
      for (int d = 0; d < outer; ++d) offset += at[size_t(d)] * strides[size_t(d)][t];
      slab.data[t] =
          static_cast<char*>(tensors[t]->data) + offset * int64_t(size_of(tensors[t]->dtype));
    }
    if (const Status s = f(slab); !s) return s;
    int d = outer - 1;
    while (d >= 0 && ++at[size_t(d)] == size[size_t(d)]) at[size_t(d--)] = 0;
    if (d < 0) return Status::ok();
  }
}

// As each_slab, but in the order in which the last tensor, the output, lies.
template <size_t N, class F>
Status each_slab_in_order(const std::array<const Tensor*, N>& tensors, F f) {
  const std::array<Tensor, N> ordered = in_memory_order<N>(tensors, N - 1);
  std::array<const Tensor*, N> pointers;
  for (size_t t = 0; t < N; ++t) pointers[t] = &ordered[t];
  return each_slab<N>(pointers, f);
}

}  // namespace ridge::ops
