#include "ops/layout.h"

#include <algorithm>
#include <cstdlib>

namespace ridge::ops {

std::optional<Merged> merged(const Tensor& t, int begin, int end) {
  Merged all;
  bool any = false;
  for (int d = begin; d < end; ++d)
    if (t.shape[size_t(d)] == 0) return Merged{0, 1};
  for (int d = end - 1; d >= begin; --d) {
    const int64_t size = t.shape[size_t(d)], stride = t.strides[size_t(d)];
    if (size == 1) continue;
    if (any && stride != all.size * all.stride) return std::nullopt;
    if (!any) all.stride = stride;
    any = true;
    all.size *= size;
  }
  return all;
}

bool is_contiguous(const Tensor& t) {
  const auto all = merged(t, 0, t.rank);
  return all && (all->size <= 1 || all->stride == 1);
}

bool is_dense(const Tensor& t) {
  Tensor sorted = t;
  std::array<int, kMaxRank> order = {};
  for (int d = 0; d < t.rank; ++d) order[size_t(d)] = d;
  std::stable_sort(order.begin(), order.begin() + t.rank,
                   [&](int a, int b) { return t.strides[size_t(a)] > t.strides[size_t(b)]; });
  for (int d = 0; d < t.rank; ++d) {
    sorted.shape[size_t(d)] = t.shape[size_t(order[size_t(d)])];
    sorted.strides[size_t(d)] = t.strides[size_t(order[size_t(d)])];
  }
  return is_contiguous(sorted);
}

bool same_strides(const Tensor& a, const Tensor& b) {
  for (int d = 0; d < a.rank; ++d)
    if (a.shape[size_t(d)] > 1 && a.strides[size_t(d)] != b.strides[size_t(d)]) return false;
  return true;
}

Rows rows_of(Check& check, Named t, bool is_output) {
  const std::string name = t.name;
  check.that(t.tensor.rank >= 1, name + " has no dimension; its last one is what rows are made of");
  if (!check) return {};
  const int last = t.tensor.rank - 1;
  Rows rows;
  rows.cols = t.tensor.shape[size_t(last)];
  check.that(t.tensor.elements() == 0 || rows.cols == 1 || t.tensor.strides[size_t(last)] == 1,
             name + " has strides " + strides_text(t.tensor) +
                 "; the last dimension has to be contiguous");
  const auto leading = merged(t.tensor, 0, last);
  check.that(leading.has_value(),
             name + " has strides " + strides_text(t.tensor) +
                 "; the dimensions before the last have to merge to rows with one stride");
  if (!check) return {};
  rows.rows = leading->size;
  rows.stride = leading->size > 1 ? leading->stride : rows.cols;
  check.that(!is_output || rows.rows <= 1 || std::abs(rows.stride) >= rows.cols,
             name + " has strides " + strides_text(t.tensor) + ", by which its rows overlap");
  return rows;
}

void check_vector(Check& check, Named t) {
  if (!check) return;
  const std::string name = t.name;
  check.that(t.tensor.rank == 1, name + " is " + text(t.tensor) + "; it has to be a vector");
  if (!check) return;
  check.that(t.tensor.shape[0] <= 1 || t.tensor.strides[0] == 1,
             name + " has strides " + strides_text(t.tensor) + "; it has to be contiguous");
}

void check_dtype_is(Check& check, Named t, Dtype wanted, const char* because) {
  check.that(t.tensor.dtype == wanted, std::string(t.name) + " is " + name_of(t.tensor.dtype) +
                                           "; " + because + " is " + name_of(wanted));
}

}  // namespace ridge::ops
