// Operators that move elements without computing. Outputs must not overlap inputs, unless the
// operator says so.
#pragma once

#include <cuda_runtime_api.h>

#include "ridge/status.h"
#include "ridge/tensor.h"
#include "ridge/workspace.h"

namespace ridge {
inline namespace api {

// out = in, with any format and any strides on both sides. So a copy also makes a contiguous tensor
// of a permuted or transposed view. Rows with gaps take one launch, and so do transposed matrices.
// Everything else takes one launch for each line along the longest dimension.
[[nodiscard]] Status copy(const Tensor& in, const Tensor& out, cudaStream_t stream = nullptr);

// out(..., c, r) = in(..., r, c), any strides, formats of up to 4 bytes.
[[nodiscard]] Status transpose(const Tensor& in, const Tensor& out, cudaStream_t stream = nullptr);

// out[i] = in[n - 1 - i], one dimension, any format. `out` may be `in` itself, if its stride is 1
// and its format has up to 4 bytes.
[[nodiscard]] Status reverse(const Tensor& in, const Tensor& out, cudaStream_t stream = nullptr);

// out(..., 2 i) = a(..., i), out(..., 2 i + 1) = b(..., i), any format.
[[nodiscard]] Status interleave(const Tensor& a, const Tensor& b, const Tensor& out,
                                cudaStream_t stream = nullptr);

// x, y = y, x, any format. The innermost dimension of both has stride 1.
[[nodiscard]] Status swap(const Tensor& x, const Tensor& y, cudaStream_t stream = nullptr);

// out(..., :) = table(tokens(...), :). Tokens are i32, each from 0 to vocab - 1; this is not
// checked. The table is (vocab, dim), and out has the shape of tokens with dim behind it. Both are
// f32, f16 or bf16, and their rows have no gaps inside.
[[nodiscard]] Status embedding(const Tensor& tokens, const Tensor& table, const Tensor& out,
                               cudaStream_t stream = nullptr);

// dtable(tokens(...), :) += dy(..., :). dtable is f32, whatever dy is.
[[nodiscard]] Status embedding_backward(const Tensor& tokens, const Tensor& dy,
                                        const Tensor& dtable, const Workspace& workspace,
                                        cudaStream_t stream = nullptr);

}  // namespace api
}  // namespace ridge
