// Prefix sums and maxima of a vector, and of its segments. For operators of your own see
// ridge/scan.cuh.
//
// Vectors are contiguous. `out` has the format and length of `in`, and may be `in` itself; it must
// not overlap another input, nor `in` in another way. Integers wrap around; f16 and bf16 are added
// in f32 and rounded once. Sums of floats may differ in their last digits from run to run. A NaN
// stays to the end, of the vector or of its segment. No elements: nothing happens.
//
// The workspace is device memory, aligned to 16 bytes, whatever it holds; two calls that may run at
// the same time need one each.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "ridge/status.h"
#include "ridge/tensor.h"

namespace ridge {
inline namespace api {

// Of i32, i64, f32, f16 or bf16: out[i] = in[0] + … + in[i].
[[nodiscard]] Expected<std::size_t> inclusive_scan_workspace(const Tensor& in, const Tensor& out);
[[nodiscard]] Status inclusive_scan(const Tensor& in, const Tensor& out, void* workspace,
                                    std::size_t workspace_bytes, cudaStream_t stream = nullptr);
// out[i] = in[0] + … + in[i - 1]; out[0] = 0.
[[nodiscard]] Expected<std::size_t> exclusive_scan_workspace(const Tensor& in, const Tensor& out);
[[nodiscard]] Status exclusive_scan(const Tensor& in, const Tensor& out, void* workspace,
                                    std::size_t workspace_bytes, cudaStream_t stream = nullptr);

// out[i] = max(in[0], …, in[i]).
[[nodiscard]] Expected<std::size_t> inclusive_max_scan_workspace(const Tensor& in,
                                                                 const Tensor& out);
[[nodiscard]] Status inclusive_max_scan(const Tensor& in, const Tensor& out, void* workspace,
                                        std::size_t workspace_bytes, cudaStream_t stream = nullptr);
// out[i] = max(in[0], …, in[i - 1]); out[0] is -inf, or the least integer.
[[nodiscard]] Expected<std::size_t> exclusive_max_scan_workspace(const Tensor& in,
                                                                 const Tensor& out);
[[nodiscard]] Status exclusive_max_scan(const Tensor& in, const Tensor& out, void* workspace,
                                        std::size_t workspace_bytes, cudaStream_t stream = nullptr);

// Of i32, i64 or f32: sums that start again wherever `heads`, of u8, is not 0. The first element
// starts a segment in any case.
[[nodiscard]] Expected<std::size_t> inclusive_segmented_scan_workspace(const Tensor& in,
                                                                       const Tensor& heads,
                                                                       const Tensor& out);
[[nodiscard]] Status inclusive_segmented_scan(const Tensor& in, const Tensor& heads,
                                              const Tensor& out, void* workspace,
                                              std::size_t workspace_bytes,
                                              cudaStream_t stream = nullptr);
[[nodiscard]] Expected<std::size_t> exclusive_segmented_scan_workspace(const Tensor& in,
                                                                       const Tensor& heads,
                                                                       const Tensor& out);
[[nodiscard]] Status exclusive_segmented_scan(const Tensor& in, const Tensor& heads,
                                              const Tensor& out, void* workspace,
                                              std::size_t workspace_bytes,
                                              cudaStream_t stream = nullptr);

// The same, where `keys`, of i32, differ from the one before.
[[nodiscard]] Expected<std::size_t> inclusive_scan_by_key_workspace(const Tensor& in,
                                                                    const Tensor& keys,
                                                                    const Tensor& out);
[[nodiscard]] Status inclusive_scan_by_key(const Tensor& in, const Tensor& keys, const Tensor& out,
                                           void* workspace, std::size_t workspace_bytes,
                                           cudaStream_t stream = nullptr);
[[nodiscard]] Expected<std::size_t> exclusive_scan_by_key_workspace(const Tensor& in,
                                                                    const Tensor& keys,
                                                                    const Tensor& out);
[[nodiscard]] Status exclusive_scan_by_key(const Tensor& in, const Tensor& keys, const Tensor& out,
                                           void* workspace, std::size_t workspace_bytes,
                                           cudaStream_t stream = nullptr);

}  // namespace api
}  // namespace ridge
