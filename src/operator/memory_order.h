// Tensors of one shape, rearranged so that kernels for few and simple dimensions can serve them.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "core/status.h"
#include "ridge/tensor.h"

namespace ridge::ops {

inline void swap_dimensions(Tensor& t, int a, int b) {
  std::swap(t.shape[size_t(a)], t.shape[size_t(b)]);
  std::swap(t.strides[size_t(a)], t.strides[size_t(b)]);
}

// The same elements in the order in which they lie in tensor `lead`: dimensions of one element are
// removed, strides are positive and decrease, and dimensions that lie one after another in all
// tensors are merged. For operators that do not depend on the order of elements.
template <size_t N>
std::array<Tensor, N> in_memory_order(const std::array<const Tensor*, N>& tensors, size_t lead) {
  std::array<Tensor, N> out;
  for (size_t t = 0; t < N; ++t) {
    out[t].data = tensors[t]->data;
    out[t].dtype = tensors[t]->dtype;
  }
  const Tensor& shape = *tensors[lead];
  std::array<int, kMaxRank> order = {};
  int count = 0;
  for (int d = 0; d < shape.rank; ++d)
    if (shape.shape[size_t(d)] != 1) order[size_t(count++)] = d;
  const auto stride_of = [&](int d) {
    const int64_t s = shape.strides[size_t(d)];
    return s < 0 ? -s : s;
  };
  // Inserted one by one: at most eight, and a call should not allocate.
  for (int i = 1; i < count; ++i)
    for (auto j = size_t(i); j > 0 && stride_of(order[j]) > stride_of(order[j - 1]); --j)
      std::swap(order[j], order[j - 1]);

  int rank = 0;
  for (int i = 0; i < count; ++i) {
    const auto d = size_t(order[size_t(i)]);
    const int64_t size = shape.shape[d];
    const bool turned = shape.strides[d] < 0;
    bool merges = rank > 0;
    std::array<int64_t, N> stride = {};
    for (size_t t = 0; t < N; ++t) {
      stride[t] = turned ? -tensors[t]->strides[d] : tensors[t]->strides[d];
      if (turned)
        out[t].data = static_cast<char*>(out[t].data) +
                      (size - 1) * tensors[t]->strides[d] * int64_t(size_of(out[t].dtype));
      merges = merges && out[t].strides[size_t(rank - 1)] == stride[t] * size;
    }
    if (!merges) ++rank;
    for (size_t t = 0; t < N; ++t) {
      int64_t& length = out[t].shape[size_t(rank - 1)];
      length = merges ? length * size : size;
      out[t].strides[size_t(rank - 1)] = stride[t];
    }
  }
  for (Tensor& t : out) t.rank = rank;
  return out;
}

// Calls f(pointers) for each place of the dimensions before the last `inner`.
template <size_t N, class F>
Status each_outer(const std::array<Tensor, N>& tensors, int inner, F f) {
  const int outer = std::max(tensors[0].rank - inner, 0);
  std::array<int64_t, kMaxRank> at = {};
  while (true) {
    std::array<void*, N> data = {};
    for (size_t t = 0; t < N; ++t) {
      int64_t offset = 0;
      for (int d = 0; d < outer; ++d) offset += at[size_t(d)] * tensors[t].strides[size_t(d)];
      data[t] = static_cast<char*>(tensors[t].data) + offset * int64_t(size_of(tensors[t].dtype));
    }
    if (const Status s = f(data); !s) return s;
    int d = outer - 1;
    while (d >= 0 && ++at[size_t(d)] == tensors[0].shape[size_t(d)]) at[size_t(d--)] = 0;
    if (d < 0) return Status::ok();
  }
}

}  // namespace ridge::ops
