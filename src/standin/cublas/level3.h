// Matrices, and matrices with vectors: checks, special cases, and which kernels serve a call.
#pragma once

#include <type_traits>

#include "standin/cublas/level1.h"

namespace ridge::cublas {

// A matrix, or a batch of them, as a program gives it.
struct GivenMatrix {
  const void* data = nullptr;
  const void* pointers = nullptr;  // an array in device memory; null: `data` counts
  cudaDataType type = CUDA_R_32F;
  int64_t leading = 1;
  int64_t stride = 0;
};
template <class T>
GivenMatrix given(const T* data, int64_t leading, int64_t stride) {
  return {data, nullptr, kTypeOf<T>, leading, stride};
}
template <class T>
GivenMatrix behind(T* const* pointers, int64_t leading) {
  return {nullptr, pointers, kTypeOf<std::remove_const_t<T>>, leading, 0};
}

struct GivenGemm {
  cublasOperation_t op_a, op_b;
  int64_t m, n, k;
  GivenScalar alpha;
  GivenMatrix a, b;
  GivenScalar beta;
  GivenMatrix c;
  int64_t batch = 1;
};
Status call_gemm(const Context& context, const GivenGemm& gemm);
// The same with the formats of alpha and beta from the compute type.
Status call_gemm(const Context& context, GivenGemm gemm, cublasComputeType_t compute);

// In a batch of strides, `x_stride` and `y_stride` are from vector to vector; in a batch of
// pointers x.data and y.data are arrays of them.
struct GivenGemv {
  cublasOperation_t op;
  int64_t m, n;
  GivenScalar alpha;
  GivenMatrix a;
  GivenVector x;
  GivenScalar beta;
  GivenVector y;
  int64_t x_stride = 0, y_stride = 0;
  int64_t batch = 1;
};
Status call_gemv(const Context& context, const GivenGemv& gemv);
Status call_gemv_batched(const Context& context, const GivenGemv& gemv);

Status call_ger(const Context& context, int64_t m, int64_t n, GivenScalar alpha, GivenVector x,
                GivenVector y, GivenMatrix a);
Status call_geam(const Context& context, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m,
                 int64_t n, GivenScalar alpha, GivenMatrix a, GivenScalar beta, GivenMatrix b,
                 GivenMatrix c);
Status call_dgmm(const Context& context, cublasSideMode_t side, int64_t m, int64_t n, GivenMatrix a,
                 GivenVector x, GivenMatrix c);

// A matrix of that many rows as it lies in memory, turned where `transposed`.
Matrices matrices(Arguments& a, const char* name, const GivenMatrix& m, int64_t rows, int64_t cols,
                  int64_t batch, bool transposed);

}  // namespace ridge::cublas
