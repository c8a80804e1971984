// Block-scaled tensors on the host, one element at a time: what kernels are compared with.
#pragma once

#include <cstdint>

#include "ridge/block_scaled.h"

namespace ridge {

// Quantises `values`, as many as `out` has elements, row by row. `out` is contiguous and in host
// memory, with all the pointers that its format has. Its scales follow from their format:
//   f32:    amax / largest(element), and amax itself for nf4
//   ue8m0:  2^(floor(log2(amax)) - floor(log2(largest(element)))), as in OCP MX 1.0, section 6.3
//   ue4m3:  the tensor has tensor_amax / (448 * largest(element)), and a block what brings its
//           amax to largest(element), rounded
//   e4m3 with an offset: the f32 scales above, minus their mean, rounded so that the largest of
//           each `second_block` of them is 448
// where amax is the largest magnitude in the block. Elements are divided by the scale as it is
// stored, and rounded. A scale of 0 leaves elements of 0. A block with a NaN or an infinity gets
// the scale NaN, so that all of it reads as NaN, and does not count for amax of the tensor.
void quantise(const double* values, const Tensor& out);

double scale_of(const Tensor& t, int64_t block);       // both levels
double dequantised(const Tensor& t, int64_t element);  // counted row by row

}  // namespace ridge
