// What the stand-in's kernels share: elements of four formats, factors, and launches.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "standin/cublas/call.h"
#include "standin/cublas/kernels.h"

namespace ridge::cublas {

constexpr int kThreads = 256;

// What numbers of this format are computed in.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
__device__ __forceinline__ Compute<T> to_compute(T x) {
  return Compute<T>(x);
}
template <class T>
__device__ __forceinline__ T from_compute(Compute<T> x) {
  return T(x);
}

// The factor, wherever it lies.
template <class C>
__device__ __forceinline__ C value_of(const Scalar& s) {
  if (!s.device) return C(s.value);
  switch (s.dtype) {
    case Dtype::f16: return C(float(*static_cast<const __half*>(s.device)));
    case Dtype::bf16: return C(float(*static_cast<const __nv_bfloat16*>(s.device)));
    case Dtype::f64: return C(*static_cast<const double*>(s.device));
    default: return C(*static_cast<const float*>(s.device));
  }
}

// Calls f(T{}) with the type of the elements.
template <class F>
Status with_type(Dtype dtype, F f) {
  switch (dtype) {
    case Dtype::f16: return f(__half());
    case Dtype::bf16: return f(__nv_bfloat16());
    case Dtype::f64: return f(double());
    default: return f(float());
  }
}

// The index of this thread in the grid, and how many threads there are.
__device__ __forceinline__ int64_t first_index() {
  return int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t index_step() { return int64_t(gridDim.x) * blockDim.x; }

// One thread per element as far as the grid goes; kernels stride over the rest.
inline dim3 blocks_for(int64_t elements) {
  return dim3(unsigned(std::clamp<int64_t>((elements + kThreads - 1) / kThreads, 1, 4096)));
}

template <class... P, class... A>
Status launch(void (*kernel)(P...), dim3 grid, dim3 block, cudaStream_t stream, A&&... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  return from_cuda(cudaLaunchKernelEx(&config, kernel, P(std::forward<A>(arguments))...));
}

}  // namespace ridge::cublas
