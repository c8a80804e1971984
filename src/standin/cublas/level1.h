// Vectors: checks, special cases, and which kernel serves a call.
#pragma once

#include "standin/cublas/arguments.h"

namespace ridge::cublas {

// A vector as a program gives it.
struct GivenVector {
  const void* data = nullptr;
  cudaDataType type = CUDA_R_32F;
  int64_t increment = 1;
};
struct GivenScalar {
  const void* data = nullptr;
  cudaDataType type = CUDA_R_32F;
};
template <class T>
constexpr cudaDataType kTypeOf = CUDA_R_32F;
template <>
inline constexpr cudaDataType kTypeOf<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType kTypeOf<__half> = CUDA_R_16F;
template <>
inline constexpr cudaDataType kTypeOf<__nv_bfloat16> = CUDA_R_16BF;
template <class T>
GivenVector given(const T* data, int64_t increment) {
  return {data, kTypeOf<T>, increment};
}
template <class T>
GivenScalar given(const T* data) {
  return {data, kTypeOf<T>};
}

// `execution` is the format that the caller wants it computed in.
Status call_axpy(const Context& c, int64_t n, GivenScalar alpha, GivenVector x, GivenVector y,
                 cudaDataType execution);
Status call_scal(const Context& c, int64_t n, GivenScalar alpha, GivenVector x,
                 cudaDataType execution);
Status call_copy(const Context& c, int64_t n, GivenVector x, GivenVector y);
Status call_swap(const Context& c, int64_t n, GivenVector x, GivenVector y);
Status call_rot(const Context& c, int64_t n, GivenVector x, GivenVector y, GivenScalar cosine,
                GivenScalar sine, cudaDataType execution);
Status call_dot(const Context& c, int64_t n, GivenVector x, GivenVector y, void* result,
                cudaDataType result_type, cudaDataType execution);
// asum and nrm2
Status call_norm(const Context& c, Reduction norm, int64_t n, GivenVector x, void* result,
                 cudaDataType result_type, cudaDataType execution);
// iamax and iamin; the result is an i32 or i64
Status call_extreme(const Context& c, Reduction extreme, int64_t n, GivenVector x, void* result,
                    Dtype result_type);

}  // namespace ridge::cublas
