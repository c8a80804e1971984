// What all rungs of group_norm share: the elements of a row, one by one.
#pragma once

#include "device/convert.cuh"
#include "device/divide.cuh"
#include "device/lanes.cuh"
#include "device/moments.cuh"
#include "kernels/group_norm/group_norm.h"

namespace ridge::group_norm {

constexpr int64_t kMostCols = 1 << 30;  // numbers of elements in a row are ints

inline Support supports_any(const Args& a) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (a.cols() > kMostCols) return "counts elements of a row up to 2^30";
  return a.runs() <= INT32_MAX ? kSupported : "counts channels of all samples up to 2^31";
}

template <class T>
struct Group {
  const T *x, *dy, *gamma, *beta;
  T *y, *dx;
  float mean = 0, rstd = 0;  // backward
  int cols;
  Divider inner;

  __device__ __forceinline__ Group(const Args& a, int64_t r, const Divider& inner)
      : x(static_cast<const T*>(a.x) + r * a.cols()),
        dy(static_cast<const T*>(a.dy) + r * a.cols()),
        gamma(a.gamma ? static_cast<const T*>(a.gamma) + r % a.groups * a.depth : nullptr),
        beta(a.beta ? static_cast<const T*>(a.beta) + r % a.groups * a.depth : nullptr),
        y(static_cast<T*>(a.y) + r * a.cols()),
        dx(static_cast<T*>(a.dx) + r * a.cols()),
        cols(int(a.cols())),
        inner(inner) {
    if (!a.backward) return;
    mean = a.mean[r];
    rstd = a.rstd[r];
  }
  __device__ __forceinline__ float at(int i) const { return to_float(x[i]); }
  __device__ __forceinline__ float factor(int i) const {
    return gamma ? to_float(gamma[inner.quotient(i)]) : 1;
  }
  __device__ __forceinline__ float summand(int i) const {
    return beta ? to_float(beta[inner.quotient(i)]) : 0;
  }
  __device__ __forceinline__ void put(int i, float by_mean, float by_rstd) const {
    y[i] = from_float<T>((at(i) - by_mean) * by_rstd * factor(i) + summand(i));
  }
  __device__ __forceinline__ float h(int i) const { return (at(i) - mean) * rstd; }
  __device__ __forceinline__ float g(int i) const { return to_float(dy[i]) * factor(i); }
  __device__ __forceinline__ void put_dx(int i, float mean_g, float mean_gh) const {
    dx[i] = from_float<T>(rstd * (g(i) - mean_g - h(i) * mean_gh));
  }
};
// Of the elements of a row: their channels.
inline Divider by_inner(const Args& a) {
  return Divider(a.inner > 0 ? a.inner : 1, a.cols() > 0 ? a.cols() : 1);
}

__device__ __forceinline__ void put_statistics(const Args& a, int64_t row, float mean, float rstd) {
  if (a.mean) a.mean[row] = mean;
  if (a.rstd) a.rstd[row] = rstd;
}

}  // namespace ridge::group_norm
