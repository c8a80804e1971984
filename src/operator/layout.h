// How tensors lie in memory, as kernels want them: as one run, as rows with one stride, as (outer,
// axis, inner).
#pragma once

#include <optional>

#include "operator/check.h"
#include "operator/description.h"

namespace ridge::ops {

// Dimensions that lie one after another, as one.
struct Merged {
  int64_t size = 1, stride = 1;
};
// Dimensions [begin, end) of a tensor, where they can be merged.
std::optional<Merged> merged(const Tensor& t, int begin, int end);

bool is_contiguous(const Tensor& t);                  // without gaps, the last dimension fastest
bool is_dense(const Tensor& t);                       // without gaps, dimensions in any order
bool same_strides(const Tensor& a, const Tensor& b);  // of dimensions where they matter

// A tensor of Layout::rows as (rows, cols), the last `row_dims` dimensions being the columns.
struct Rows {
  int64_t rows = 0, cols = 0, stride = 0;  // elements from row to row
};
Rows rows_of(const Tensor& t, int row_dims = 1);

// Whether the layout of a tensor is the one that its description asks for.
void check_layout(Check& check, Named t, const TensorDef& def);

// The same elements without dimension `axis`, at its first place.
Tensor without(const Tensor& t, int axis);

}  // namespace ridge::ops
