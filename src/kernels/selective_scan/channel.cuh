// What all rungs of selective_scan share: the numbers of one channel, step by step.
#pragma once

#include "device/convert.cuh"
#include "device/step.cuh"
#include "kernels/selective_scan/selective_scan.h"

namespace ridge::selective_scan {

using steps::Step;

inline Support supports_any(const Args& a) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  return a.channels() <= INT32_MAX && a.length <= INT32_MAX
             ? kSupported
             : "counts channels and steps up to 2^31";
}

__device__ __forceinline__ float softplus(float x) { return x > 20 ? x : log1pf(expf(x)); }
__device__ __forceinline__ float sigmoid(float x) { return 1 / (1 + expf(-x)); }

template <class T>
struct Channel {
  const T *u, *delta, *b, *c, *z, *dy;
  const float* a;
  float d, bias;
  bool has_softplus;
  int64_t length;

  __device__ __forceinline__ Channel(const Args& args, int64_t channel)
      : a(args.a + channel % args.dim * args.state),
        d(args.d ? args.d[channel % args.dim] : 0),
        bias(args.delta_bias ? args.delta_bias[channel % args.dim] : 0),
        has_softplus(args.softplus),
        length(args.length) {
    const int64_t at = channel * length, shared = channel / args.dim * args.state * length;
    u = static_cast<const T*>(args.u) + at;
    delta = static_cast<const T*>(args.delta) + at;
    b = static_cast<const T*>(args.b) + shared;
    c = static_cast<const T*>(args.c) + shared;
    z = args.z ? static_cast<const T*>(args.z) + at : nullptr;
    dy = static_cast<const T*>(args.dy) + at;
  }
  // The step's length, and how it changes with delta.
  __device__ __forceinline__ float s(int64_t t) const {
    const float x = to_float(delta[t]) + bias;
    return has_softplus ? softplus(x) : x;
  }
  __device__ __forceinline__ float slope(int64_t t) const {
    return has_softplus ? sigmoid(to_float(delta[t]) + bias) : 1;
  }
  __device__ __forceinline__ float of_u(int64_t t) const { return to_float(u[t]); }
  __device__ __forceinline__ float of_b(int64_t n, int64_t t) const {
    return to_float(b[n * length + t]);
  }
  __device__ __forceinline__ float of_c(int64_t n, int64_t t) const {
    return to_float(c[n * length + t]);
  }
  __device__ __forceinline__ float gate(int64_t t) const {
    if (!z) return 1;
    const float x = to_float(z[t]);
    return x * sigmoid(x);
  }
  __device__ __forceinline__ float gate_slope(int64_t t) const {
    const float x = to_float(z[t]), p = sigmoid(x);
    return p * (1 + x * (1 - p));
  }
};

}  // namespace ridge::selective_scan
