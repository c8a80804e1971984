// cuBLAS beside gemv and gemv_t.
#pragma once

#include "harness/rivals/cublas.h"

namespace ridge::gemv {

// A as cuBLAS sees it: columns one after another. Rows that lie so are the columns of transpose(A).
struct CublasMatrix {
  int64_t rows = 0, cols = 0, leading = 0;
  bool is_transposed = false;  // of what lies there, to be A
};

inline CublasMatrix cublas_matrix(const Tensor& a) {
  if (a.strides[1] == 1) return {a.shape[1], a.shape[0], a.strides[0], true};
  return {a.shape[0], a.shape[1], a.strides[1], false};
}

inline std::string cublas_refuses(const Call& call) {
  const CublasMatrix a = cublas_matrix(call["a"]);
  if (a.rows == 0 || a.cols == 0) return "it leaves y as it is where A has no elements";
  if (a.leading < a.rows) return "the rows or columns of A overlap";
  return "";
}

// y = alpha op(A) x + beta y, op being the transposition or nothing.
inline harness::Contestant cublas_gemv(bool transposes) {
  const auto launch = [transposes](cublasHandle_t handle, const Call& call) {
    const CublasMatrix a = cublas_matrix(call["a"]);
    const cublasOperation_t op = a.is_transposed != transposes ? CUBLAS_OP_T : CUBLAS_OP_N;
    const auto alpha = float(call.number("alpha")), beta = float(call.number("beta"));
    const void *matrix = call["a"].data, *x = call["x"].data;
    void* const y = call["y"].data;
    if (call["a"].dtype == Dtype::f32)
      return cublasSgemv_64(handle, op, a.rows, a.cols, &alpha, static_cast<const float*>(matrix),
                            a.leading, static_cast<const float*>(x), 1, &beta,
                            static_cast<float*>(y), 1);
    // It has no gemv of 16-bit numbers: a product with a matrix of one column.
    const cudaDataType_t type = rivals::cuda_type(call["a"].dtype);
    const int64_t results = call["y"].shape[0], summed = call["x"].shape[0];
    return cublasGemmEx_64(handle, op, CUBLAS_OP_N, results, 1, summed, &alpha, matrix, type,
                           a.leading, x, type, summed, &beta, y, type, results, CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT);
  };
  return rivals::cublas_rival(CUBLAS_POINTER_MODE_HOST, cublas_refuses, launch);
}

}  // namespace ridge::gemv
