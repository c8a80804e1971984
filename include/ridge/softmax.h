// Softmax and its logarithm over the last dimension, and their backward passes, for f32, f16 and
// bf16; computed in f32.
//
// All tensors of a call have the same shape and format. The last dimension is contiguous, and the
// others merge to rows with one stride; this holds for a contiguous tensor of any rank, and for a
// slice of it along its last dimension. An output may be one of the inputs itself, but must not
// overlap an input otherwise. With no elements, nothing happens.
#pragma once

#include <cuda_runtime_api.h>

#include "ridge/status.h"
#include "ridge/tensor.h"

namespace ridge {
inline namespace api {

// out = exp(x - max) / sum exp(x - max).
[[nodiscard]] Status softmax(const Tensor& x, const Tensor& out, cudaStream_t stream = nullptr);

// out = x - max - log sum exp(x - max).
[[nodiscard]] Status log_softmax(const Tensor& x, const Tensor& out, cudaStream_t stream = nullptr);

// dx = y * (dy - sum y dy), of the y that softmax gave.
[[nodiscard]] Status softmax_backward(const Tensor& y, const Tensor& dy, const Tensor& dx,
                                      cudaStream_t stream = nullptr);

// dx = dy - exp(y) * sum dy, of the y that log_softmax gave.
[[nodiscard]] Status log_softmax_backward(const Tensor& y, const Tensor& dy, const Tensor& dx,
                                          cudaStream_t stream = nullptr);

}  // namespace api
}  // namespace ridge
