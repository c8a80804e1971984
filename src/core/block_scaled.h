// Block-scaled tensors on the host, one element at a time: what kernels are compared with.
#pragma once

#include <cstdint>

#include "ridge/block_scaled.h"

namespace ridge {

// The scale of a whole tensor, where its format has one (nvfp4, and f32 of one block): computed, or
// taken as it is.
enum class TensorScale : uint8_t { computed, given };

// Quantises `values`, which are f32 numbers, as many as `out` has elements, row by row. `out` is
// contiguous and in host memory, with all the pointers that its format has. Its scales follow from
// their format; amax is the largest magnitude in the block:
//   f32:    amax / largest(element), and amax itself for nf4
//   ue8m0:  2^(floor(log2(amax)) - floor(log2(largest(element)))), as in OCP MX 1.0, section 6.3
//   ue4m3:  the tensor has tensor_amax / (448 * largest(element)), and a block
//           (amax / largest(element)) / that, rounded
//   e4m3 with an offset: the f32 scales above, minus their mean, rounded so that the largest of
//           each `second_block` of them is 448
// Elements are divided by the scale as it is stored, and rounded; with an offset by the f32 scale
// before it was quantised, as QLoRA has it. Every step is one f32 operation, except the mean, whose
// sum is f64 (docs/quantisation.md). A scale of 0 leaves elements of 0. A block with a NaN or an
// infinity gets the scale NaN, so that all of it reads as NaN, and does not count for amax of the
// tensor or for the mean.
void quantise(const double* values, const Tensor& out,
              TensorScale tensor_scale = TensorScale::computed);

double scale_of(const Tensor& t, int64_t block);       // both levels, in f32
double dequantised(const Tensor& t, int64_t element);  // in f32; elements are counted row by row

}  // namespace ridge
