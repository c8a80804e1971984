// Operators that work element by element. Tensors of one call have one shape, any strides. An
// output may be one of the inputs itself; it must not overlap one in another way.
#pragma once

#include <cuda_runtime_api.h>

#include "ridge/status.h"
#include "ridge/tensor.h"

namespace ridge {

// out = a + b, for f32, f16 and bf16.
[[nodiscard]] Status add(const Tensor& a, const Tensor& b, const Tensor& out,
                         cudaStream_t stream = nullptr);

}  // namespace ridge
