// How tensors lie in memory, as kernels want them: as one run, as rows with one stride, as (outer,
// axis, inner).
#pragma once

#include <optional>

#include "ops/check.h"

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

// A tensor as (rows, cols), the last dimension being the columns; where it cannot be one, `check`
// says so.
struct Rows {
  int64_t rows = 0, cols = 0, stride = 0;  // elements from row to row
};
Rows rows_of(Check& check, Named t, bool is_output);

// A vector without gaps; where it is none, `check` says so.
void check_vector(Check& check, Named t);

void check_dtype_is(Check& check, Named t, Dtype wanted, const char* because);

}  // namespace ridge::ops
