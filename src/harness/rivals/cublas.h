// cuBLAS as a contestant.
#pragma once

#include <cublas_v2.h>

#include "harness/rivals/rival.h"

namespace ridge::rivals {

inline Status cublas_status(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return Status::ok();
  return Error{int(status), std::string("cuBLAS: ") + cublasGetStatusString(status)};
}

// One handle for the process, or why there is none. Partial sums stay in f32, as the references'
// tolerances expect.
inline Expected<cublasHandle_t> cublas_handle() {
  static const Expected<cublasHandle_t> made = []() -> Expected<cublasHandle_t> {
    cublasHandle_t handle = nullptr;
    Status status = cublas_status(cublasCreate(&handle));
    if (status)
      status = cublas_status(cublasSetMathMode(
          handle,
          cublasMath_t(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
    if (!status) return status.error();
    return handle;
  }();
  return made;
}

inline cudaDataType_t cuda_type(Dtype dtype) {
  return dtype == Dtype::f32 ? CUDA_R_32F : dtype == Dtype::bf16 ? CUDA_R_16BF : CUDA_R_16F;
}

// What cuBLAS itself recommends for Hopper. Given to it with every launch, so that it allocates
// nothing, also while a graph is captured.
constexpr size_t kCublasWorkspace = size_t(32) << 20;

// `launch(handle, call)` is one call of cuBLAS; scalars (factors, results) are where `scalars`
// says.
template <class Refuses, class Launch>
harness::Contestant cublas_rival(cublasPointerMode_t scalars, Refuses refuses, Launch launch) {
  return {.name = "cuBLAS",
          .rival = true,
          .refuses = [refuses](const Case&, const Call& call) -> std::string {
            const std::string why = refuses(call);
            if (!why.empty()) return why;
            const auto handle = cublas_handle();
            return handle ? "" : "it does not start: " + handle.error().message;
          },
          .workspace = [](const Call&) -> Expected<size_t> { return kCublasWorkspace; },
          .launch = [launch, scalars](const Call& call, const Workspace& workspace,
                                      cudaStream_t stream) -> Status {
            const auto handle = cublas_handle();
            if (!handle) return handle.error();
            cublasStatus_t status = cublasSetStream(*handle, stream);
            if (status == CUBLAS_STATUS_SUCCESS)
              status = cublasSetWorkspace(*handle, workspace.data, workspace.bytes);
            if (status == CUBLAS_STATUS_SUCCESS) status = cublasSetPointerMode(*handle, scalars);
            if (status == CUBLAS_STATUS_SUCCESS) status = launch(*handle, call);
            return cublas_status(status);
          }};
}

}  // namespace ridge::rivals
