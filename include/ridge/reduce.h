// Reductions of a whole tensor, along an axis, and of segments; and scaling by a norm. For your own
// operators see ridge/reduce.cuh.
//
// Formats are f32, f16, bf16 and, if the comment says so, i32. f16 and bf16 are computed in f32 and
// rounded once. If an element is NaN, the result is NaN, except for count_equal and argmax, which
// gives the index of the first NaN. Results are the same in every run on a device.
//
// ridge/workspace.h says how to get a workspace.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ridge/status.h"
#include "ridge/tensor.h"
#include "ridge/workspace.h"

namespace ridge {
inline namespace api {

enum class Reduction : std::uint8_t {
  sum,      // of none: 0
  max,      // of none: -inf, or the least integer
  min,      // of none: inf, or the greatest integer
  mean,     // of none: NaN; no i32
  product,  // of none: 1; integers wrap around
  argmax,   // the first of the greatest; of none: -1
  norm_l1,  // the sum of the sizes; no i32
  norm_l2,  // the root of the sum of the squares; no i32
};

// The format of a result: sums and products of i32 are i64, argmax is i64, all else has the format
// of the elements.
constexpr Dtype reduced_dtype(Reduction reduction, Dtype dtype) {
  if (reduction == Reduction::argmax) return Dtype::i64;
  const bool widens = reduction == Reduction::sum || reduction == Reduction::product;
  return widens && dtype == Dtype::i32 ? Dtype::i64 : dtype;
}

// --- A whole tensor ---
// x has any rank and no gaps: it is contiguous, if necessary with its dimensions in another order.
// For argmax it must be contiguous, because argmax counts elements in the order of the shape. `out`
// has one element, of reduced_dtype. x may be i32, unless Reduction says otherwise.

[[nodiscard]] Status reduce(Reduction reduction, const Tensor& x, const Tensor& out,
                            const Workspace& workspace, cudaStream_t stream = nullptr);

// The same, by name.
[[nodiscard]] Status sum(const Tensor& x, const Tensor& out, const Workspace& workspace,
                         cudaStream_t stream = nullptr);
[[nodiscard]] Status max(const Tensor& x, const Tensor& out, const Workspace& workspace,
                         cudaStream_t stream = nullptr);
[[nodiscard]] Status min(const Tensor& x, const Tensor& out, const Workspace& workspace,
                         cudaStream_t stream = nullptr);
[[nodiscard]] Status mean(const Tensor& x, const Tensor& out, const Workspace& workspace,
                          cudaStream_t stream = nullptr);
[[nodiscard]] Status product(const Tensor& x, const Tensor& out, const Workspace& workspace,
                             cudaStream_t stream = nullptr);
[[nodiscard]] Status argmax(const Tensor& x, const Tensor& out, const Workspace& workspace,
                            cudaStream_t stream = nullptr);
[[nodiscard]] Status norm_l1(const Tensor& x, const Tensor& out, const Workspace& workspace,
                             cudaStream_t stream = nullptr);
[[nodiscard]] Status norm_l2(const Tensor& x, const Tensor& out, const Workspace& workspace,
                             cudaStream_t stream = nullptr);

// out = sum of x * y. x and y have the same shape, format and strides; i32 gives i64.
[[nodiscard]] Status dot(const Tensor& x, const Tensor& y, const Tensor& out,
                         const Workspace& workspace, cudaStream_t stream = nullptr);

// out, i64: how many elements equal `value`, compared in f32 or i32.
[[nodiscard]] Status count_equal(const Tensor& x, double value, const Tensor& out,
                                 const Workspace& workspace, cudaStream_t stream = nullptr);

// --- One axis ---
// Any reduction along dimension `axis` of x (negative: from the end); argmax gives indices along
// that axis. `out` is of reduced_dtype. It has the shape of x, except for the axis: there it has 1
// element, or the dimension is missing.
//
// The dimensions of x and out behind the axis are contiguous, and those before it merge to one
// stride; the axis may have any stride. For a contiguous tensor this holds for every axis; for
// other tensors the call returns an error.

[[nodiscard]] Status reduce_axis(Reduction reduction, const Tensor& x, int axis, const Tensor& out,
                                 const Workspace& workspace, cudaStream_t stream = nullptr);

// --- Segments ---
// out[s] = sum, max, min or mean of x[offsets[s] … offsets[s + 1] - 1]. x may be i32, except for
// means. offsets are i32 or i64, one more than there are results; `out` is of reduced_dtype. All
// are contiguous vectors. Offsets must not decrease, the first must be at least 0 and the last at
// most the length of x. They are in device memory, so this is not checked.

[[nodiscard]] Status segmented_reduce(Reduction reduction, const Tensor& x, const Tensor& offsets,
                                      const Tensor& out, const Workspace& workspace,
                                      cudaStream_t stream = nullptr);

// --- Scaling by a norm ---
// `out` may be x itself, but must not overlap it otherwise.

// Rows, along the last dimension: out = x / max(norm of the row, epsilon). The last dimension is
// contiguous, those before it merge to rows with one stride.
[[nodiscard]] Status l1_normalize(const Tensor& x, float epsilon, const Tensor& out,
                                  const Workspace& workspace, cudaStream_t stream = nullptr);
[[nodiscard]] Status l2_normalize(const Tensor& x, float epsilon, const Tensor& out,
                                  const Workspace& workspace, cudaStream_t stream = nullptr);

// norm (f32, one element) = L2 norm of x, and out = x * min(1, max_norm / (norm + 1e-6)), as
// PyTorch does with gradients. x and out have the same shape and strides, and no gaps. To clip many
// gradients by their common norm, put them into one buffer.
[[nodiscard]] Status clip_by_global_norm(const Tensor& x, float max_norm, const Tensor& out,
                                         const Tensor& norm, const Workspace& workspace,
                                         cudaStream_t stream = nullptr);

}  // namespace api
}  // namespace ridge
