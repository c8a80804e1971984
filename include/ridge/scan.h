// Prefix sums and maxima of a vector, and of its segments. For your own operators see
// ridge/scan.cuh.
//
// Vectors are contiguous. `out` has the format and length of `in`. It may be `in` itself, but must
// not overlap `in` otherwise, nor another input. Integers wrap around; f16 and bf16 are added in
// f32 and rounded once. Sums of floats may differ in their last digits from run to run. After a
// NaN, all results to the end of the vector or segment are NaN. With no elements, nothing happens.
#pragma once

#include <cuda_runtime_api.h>

#include "ridge/status.h"
#include "ridge/tensor.h"
#include "ridge/workspace.h"

namespace ridge {
inline namespace api {

// Of i32, i64, f32, f16 or bf16: out[i] = in[0] + … + in[i].
[[nodiscard]] Status inclusive_scan(const Tensor& in, const Tensor& out, const Workspace& workspace,
                                    cudaStream_t stream = nullptr);
// out[i] = in[0] + … + in[i - 1]; out[0] = 0.
[[nodiscard]] Status exclusive_scan(const Tensor& in, const Tensor& out, const Workspace& workspace,
                                    cudaStream_t stream = nullptr);

// out[i] = max(in[0], …, in[i]).
[[nodiscard]] Status inclusive_max_scan(const Tensor& in, const Tensor& out,
                                        const Workspace& workspace, cudaStream_t stream = nullptr);
// out[i] = max(in[0], …, in[i - 1]); out[0] is -inf, or the least integer.
[[nodiscard]] Status exclusive_max_scan(const Tensor& in, const Tensor& out,
                                        const Workspace& workspace, cudaStream_t stream = nullptr);

// Of i32, i64 or f32: sums that start again wherever `heads`, of u8, is not 0. The first element
// starts a segment in any case.
[[nodiscard]] Status inclusive_segmented_scan(const Tensor& in, const Tensor& heads,
                                              const Tensor& out, const Workspace& workspace,
                                              cudaStream_t stream = nullptr);
[[nodiscard]] Status exclusive_segmented_scan(const Tensor& in, const Tensor& heads,
                                              const Tensor& out, const Workspace& workspace,
                                              cudaStream_t stream = nullptr);

// The same, but a segment starts at each element whose key (of `keys`, i32) differs from the
// previous one.
[[nodiscard]] Status inclusive_scan_by_key(const Tensor& in, const Tensor& keys, const Tensor& out,
                                           const Workspace& workspace,
                                           cudaStream_t stream = nullptr);
[[nodiscard]] Status exclusive_scan_by_key(const Tensor& in, const Tensor& keys, const Tensor& out,
                                           const Workspace& workspace,
                                           cudaStream_t stream = nullptr);

}  // namespace api
}  // namespace ridge
