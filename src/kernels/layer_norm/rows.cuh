// What all rungs of layer_norm share: one row of a call, forward and backward, element by element.
#pragma once

#include "device/convert.cuh"
#include "device/lanes.cuh"
#include "kernels/layer_norm/layer_norm.h"

namespace ridge::layer_norm {

inline Support supports_any(const Args& a) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (a.cols > kMostCols) return "counts columns up to 2^30";
  return a.rows <= INT32_MAX ? kSupported : "counts rows up to 2^31";
}

// The rows of an Args that a forward kernel works on.
template <class T>
struct Rows {
  const T *x, *residual, *gamma, *beta;  // (cols)
  T *sum, *y;                            // (cols)

  __device__ __forceinline__ Rows(const Args& a, int64_t row)
      : x(static_cast<const T*>(a.x) + row * a.x_stride),
        residual(a.residual ? static_cast<const T*>(a.residual) + row * a.residual_stride
                            : nullptr),
        gamma(static_cast<const T*>(a.gamma)),
        beta(static_cast<const T*>(a.beta)),
        sum(static_cast<T*>(a.sum) + row * a.sum_stride),
        y(static_cast<T*>(a.y) + row * a.y_stride) {}

  // What is normalised. The first time, the sum is stored; after that, it is read again.
  __device__ __forceinline__ float first(int c) const {
    if (!residual) return to_float(x[c]);
    sum[c] = from_float<T>(to_float(x[c]) + to_float(residual[c]));
    return to_float(sum[c]);
  }
  __device__ __forceinline__ float again(int c) const { return to_float(residual ? sum[c] : x[c]); }
  __device__ __forceinline__ void put(int c, float mean, float rstd) const {
    const float n = (again(c) - mean) * rstd;
    const float scaled = gamma ? n * to_float(gamma[c]) : n;
    y[c] = from_float<T>(beta ? scaled + to_float(beta[c]) : scaled);
  }
};

__device__ __forceinline__ void put_statistics(const Args& a, int64_t row, float mean, float rstd) {
  if (a.mean) a.mean[row] = mean;
  if (a.rstd) a.rstd[row] = rstd;
}

// The rows of an Args that a backward kernel works on.
template <class T>
struct Gradients {
  const T *x, *dy, *gamma, *dsum;  // (cols)
  T* dx;                           // (cols)
  float mean, rstd;

  __device__ __forceinline__ Gradients(const Args& a, int64_t row)
      : x(static_cast<const T*>(a.x) + row * a.x_stride),
        dy(static_cast<const T*>(a.dy) + row * a.dy_stride),
        gamma(static_cast<const T*>(a.gamma)),
        dsum(a.dsum ? static_cast<const T*>(a.dsum) + row * a.dsum_stride : nullptr),
        dx(static_cast<T*>(a.dx) + row * a.dx_stride),
        mean(a.centred ? a.mean[row] : 0),
        rstd(a.rstd[row]) {}

  __device__ __forceinline__ float n(int c) const { return (to_float(x[c]) - mean) * rstd; }
  __device__ __forceinline__ float g(int c) const {
    return gamma ? to_float(dy[c]) * to_float(gamma[c]) : to_float(dy[c]);
  }
  // The means of g and of g n over the row.
  __device__ __forceinline__ void put(int c, float mean_g, float mean_gn) const {
    const float gradient = rstd * (g(c) - mean_g - n(c) * mean_gn);
    dx[c] = from_float<T>(dsum ? gradient + to_float(dsum[c]) : gradient);
  }
};

}  // namespace ridge::layer_norm
