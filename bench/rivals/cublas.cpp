// cuBLAS, on the tensors of our ladders.
#include "rivals.h"

#ifdef RIDGE_HAS_CUBLAS
#include <cublas_v2.h>

namespace ridge::rivals {
namespace {

cublasHandle_t handle() {
  static const cublasHandle_t made = [] {
    cublasHandle_t h = nullptr;
    (void)cublasCreate(&h);
    return h;
  }();
  return made;
}

Status status_of(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return Status::ok();
  return Error{int(status), std::string("cuBLAS: ") + cublasGetStatusString(status)};
}

// Row-major A is cuBLAS's transposed A.
Status gemv(const Case& c, std::span<void* const> t, void*, size_t, cudaStream_t stream) {
  const int rows = int(c.shape[0]), cols = int(c.shape[1]);
  const float alpha = 1, beta = 0;
  (void)cublasSetStream(handle(), stream);
  if (c.dtype == Dtype::f32)
    return status_of(
        cublasSgemv(handle(), CUBLAS_OP_T, cols, rows, &alpha, static_cast<const float*>(t[0]),
                    cols, static_cast<const float*>(t[1]), 1, &beta, static_cast<float*>(t[2]), 1));
  const cudaDataType_t type = c.dtype == Dtype::bf16 ? CUDA_R_16BF : CUDA_R_16F;
  return status_of(cublasGemmEx(handle(), CUBLAS_OP_T, CUBLAS_OP_N, rows, 1, cols, &alpha, t[0],
                                type, cols, t[1], type, cols, &beta, t[2], type, rows,
                                CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

// y = transpose(A) x: read by columns, as cuBLAS does, A is transposed as it lies.
Status gemv_t(const Case& c, std::span<void* const> t, void*, size_t, cudaStream_t stream) {
  const int rows = int(c.shape[0]), cols = int(c.shape[1]);
  const float alpha = 1, beta = 0;
  (void)cublasSetStream(handle(), stream);
  if (c.dtype == Dtype::f32)
    return status_of(
        cublasSgemv(handle(), CUBLAS_OP_N, cols, rows, &alpha, static_cast<const float*>(t[0]),
                    cols, static_cast<const float*>(t[1]), 1, &beta, static_cast<float*>(t[2]), 1));
  const cudaDataType_t type = c.dtype == Dtype::bf16 ? CUDA_R_16BF : CUDA_R_16F;
  return status_of(cublasGemmEx(handle(), CUBLAS_OP_N, CUBLAS_OP_N, cols, 1, rows, &alpha, t[0],
                                type, cols, t[1], type, rows, &beta, t[2], type, cols,
                                CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

}  // namespace

void add_cublas(std::vector<harness::Rival>& rivals) {
  rivals.push_back({.library = "cuBLAS",
                    .operator_ = "gemv",
                    .serves = [](const Case&) { return true; },
                    .workspace = {},
                    .launch = gemv});
  rivals.push_back({.library = "cuBLAS",
                    .operator_ = "gemv_t",
                    .serves = [](const Case&) { return true; },
                    .workspace = {},
                    .launch = gemv_t});
}

}  // namespace ridge::rivals

#else

namespace ridge::rivals {
void add_cublas(std::vector<harness::Rival>&) {}
}  // namespace ridge::rivals

#endif
