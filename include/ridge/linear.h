// Products of a matrix and a vector, for f32, f16 and bf16; computed in f32.
//
// A is (rows, cols), of which one dimension is contiguous and the other has any stride: rows one
// after another, columns one after another, or part of a larger matrix. x and y are contiguous
// vectors. y overlaps neither A nor x. With beta = 0, y is not read: whatever was there, even NaN,
// is gone. Where the dimension that is summed over has no elements, y = beta * y.
//
// The workspace is device memory, aligned to 16 bytes, whatever it holds; two calls that may run at
// the same time need one each. How much a call takes depends on the tensors and on the current
// device, and may be nothing.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "ridge/status.h"
#include "ridge/tensor.h"

namespace ridge {
inline namespace api {

// y = alpha * A * x + beta * y.
[[nodiscard]] Expected<std::size_t> gemv_workspace(float alpha, const Tensor& a, const Tensor& x,
                                                   float beta, const Tensor& y);
[[nodiscard]] Status gemv(float alpha, const Tensor& a, const Tensor& x, float beta,
                          const Tensor& y, void* workspace, std::size_t workspace_bytes,
                          cudaStream_t stream = nullptr);

// y = alpha * transpose(A) * x + beta * y.
[[nodiscard]] Expected<std::size_t> gemv_t_workspace(float alpha, const Tensor& a, const Tensor& x,
                                                     float beta, const Tensor& y);
[[nodiscard]] Status gemv_t(float alpha, const Tensor& a, const Tensor& x, float beta,
                            const Tensor& y, void* workspace, std::size_t workspace_bytes,
                            cudaStream_t stream = nullptr);

}  // namespace api
}  // namespace ridge
