#include "operator/layout.h"

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

Rows rows_of(const Tensor& t, int row_dims) {
  const int first = t.rank - row_dims;  // of the dimensions that make up a row
  Rows rows = {.cols = 1};
  for (int d = first; d < t.rank; ++d) rows.cols *= t.shape[size_t(d)];
  const Merged leading = merged(t, 0, first).value_or(Merged{});
  rows.rows = leading.size;
  rows.stride = leading.size > 1 ? leading.stride : rows.cols;
  return rows;
}

namespace {

bool is_unit(const Tensor& t, int dimension) {
  return t.shape[size_t(dimension)] <= 1 || t.strides[size_t(dimension)] == 1;
}

void check_rows(Check& check, Named t, int row_dims, bool is_output) {
  const auto strides = [&] {
    return std::string(t.name) + " has strides " + strides_text(t.tensor);
  };
  const int first = t.tensor.rank - row_dims;
  const bool one = row_dims == 1;
  const auto last = [&] { return "the last" + (one ? "" : " " + std::to_string(row_dims)); };
  const auto row = merged(t.tensor, first, t.tensor.rank);
  check.that(row && (row->size <= 1 || row->stride == 1), [&] {
    return strides() + "; " + last() + (one ? " dimension has" : " dimensions have") +
           " to be contiguous";
  });
  check.that(merged(t.tensor, 0, first).has_value(), [&] {
    return strides() + "; the dimensions before " + last() +
           " have to merge to rows with one stride";
  });
  if (!check || !is_output) return;
  const Rows rows = rows_of(t.tensor, row_dims);
  check.that(rows.rows <= 1 || std::abs(rows.stride) >= rows.cols,
             [&] { return strides() + ", by which its rows overlap"; });
}

}  // namespace

void check_layout(Check& check, Named t, const TensorDef& def) {
  if (!check || def.layout == Layout::any || t.tensor.elements() == 0) return;
  const auto strides = [&] {
    return std::string(t.name) + " has strides " + strides_text(t.tensor) + " for " +
           text(t.tensor);
  };
  const int last = t.tensor.rank - 1;
  switch (def.layout) {
    case Layout::any: break;
    case Layout::contiguous:
      check.that(is_contiguous(t.tensor), [&] { return strides() + "; it has to be contiguous"; });
      break;
    case Layout::dense:
      check.that(is_dense(t.tensor), [&] { return strides() + "; it must not have gaps"; });
      break;
    case Layout::rows: check_rows(check, t, def.row_dims, def.role != Role::in); break;
    case Layout::unit_last:
      check.that(last < 0 || is_unit(t.tensor, last),
                 [&] { return std::string(t.name) + " must have stride 1 in its last dimension"; });
      break;
    case Layout::matrix:
      check.that(is_unit(t.tensor, last - 1) || is_unit(t.tensor, last), [&] {
        return strides() + "; one of its " + (last > 1 ? "last two " : "") +
               "dimensions has to be contiguous";
      });
      break;
  }
}

Tensor without(const Tensor& t, int axis) {
  Tensor rest = t;
  for (int d = axis; d + 1 < t.rank; ++d) {
    rest.shape[size_t(d)] = t.shape[size_t(d) + 1];
    rest.strides[size_t(d)] = t.strides[size_t(d) + 1];
  }
  --rest.rank;
  return rest;
}

}  // namespace ridge::ops
