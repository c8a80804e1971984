// CUB's device-wide algorithms as contestants. Files of rivals include the algorithms they use:
// CUB takes nvcc many seconds each.
#pragma once

#include "harness/rivals/rival.h"

namespace ridge::rivals {

inline Status cub_status(cudaError_t error) {
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string("CUB: ") + cudaGetErrorString(error)};
}

// CUB's two calls, the first without memory, made of one function:
// cudaError_t run(void* memory, size_t& bytes, const Call& call, cudaStream_t stream).
template <class Refuses, class Run>
harness::Contestant cub_rival(Refuses refuses, Run run) {
  return {
      .name = "CUB",
      .rival = true,
      .refuses = [refuses](const Case&, const Call& call) -> std::string { return refuses(call); },
      .workspace = [run](const Call& call) -> Expected<size_t> {
        size_t bytes = 0;
        const Status status = cub_status(run(nullptr, bytes, call, nullptr));
        if (!status) return status.error();
        return bytes;
      },
      .launch = [run](const Call& call, const Workspace& workspace, cudaStream_t stream) -> Status {
        size_t bytes = workspace.bytes;
        return cub_status(run(workspace.data, bytes, call, stream));
      }};
}

// CUB would add f16 and bf16 in these formats themselves, so it is asked for what it does exactly.
inline const Formats kCubFormats = {Dtype::f32, Dtype::i32};

template <class F>
cudaError_t with_type(Dtype dtype, F f) {
  return dtype == Dtype::i32 ? f(int32_t()) : f(float());
}

// Refuses all but contiguous tensors with `tensor` in one of kCubFormats.
inline auto cub_takes(const char* tensor) {
  return [tensor](const Call& call) {
    const std::string why = needs_format(call, tensor, kCubFormats);
    return why.empty() ? needs_contiguous(call) : why;
  };
}

}  // namespace ridge::rivals
