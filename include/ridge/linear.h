// Products of a matrix and a vector, for f32, f16 and bf16; computed in f32.
//
// A is (rows, cols), of which one dimension is contiguous and the other has any stride: rows one
// after another, columns one after another, or part of a larger matrix. x and y are contiguous
// vectors. y overlaps neither A nor x. With beta = 0, y is not read: whatever was there, even NaN,
// is gone. Where the dimension that is summed over has no elements, y = beta * y.
#pragma once

#include <cuda_runtime_api.h>

#include "ridge/status.h"
#include "ridge/tensor.h"
#include "ridge/workspace.h"

namespace ridge {
inline namespace api {

// y = alpha * A * x + beta * y.
[[nodiscard]] Status gemv(float alpha, const Tensor& a, const Tensor& x, float beta,
                          const Tensor& y, const Workspace& workspace,
                          cudaStream_t stream = nullptr);

// y = alpha * transpose(A) * x + beta * y.
[[nodiscard]] Status gemv_t(float alpha, const Tensor& a, const Tensor& x, float beta,
                            const Tensor& y, const Workspace& workspace,
                            cudaStream_t stream = nullptr);

}  // namespace api
}  // namespace ridge
