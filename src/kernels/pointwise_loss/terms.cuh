// What one element adds to a loss, and its gradient.
#pragma once

#include "device/convert.cuh"
#include "kernels/pointwise_loss/pointwise_loss.h"

namespace ridge::pointwise_loss {

struct SquaredDistance {
  static constexpr int kGradientInputs = 2;
  __device__ __forceinline__ float term(float x, float target) const {
    return (x - target) * (x - target);
  }
  __device__ __forceinline__ float gradient(float x, float target) const {
    return 2 * (x - target);
  }
};
// Of targets that are probabilities, or logarithms of them. 0 log 0 is 0, the limit of t log t;
// `Guarded` says so, and without it the logarithm of 0 makes it NaN.
template <bool Guarded>
struct Divergence {
  static constexpr int kGradientInputs = 1;
  bool log_target;
  __device__ __forceinline__ float term(float x, float target) const {
    const float p = log_target ? expf(target) : target;
    const float log_p = log_target ? target : logf(target);
    return Guarded && p == 0 ? 0 : p * (log_p - x);
  }
  __device__ __forceinline__ float gradient(float target, float) const {
    return log_target ? -expf(target) : -target;
  }
};

inline Support supports_any(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "computes f32, f16 and bf16";
}

// Calls f(T(), the loss).
template <bool Guarded, class F>
Status with_type_and_loss(const Args& a, F f) {
  return with_float_type(a.dtype, [&](auto t) -> Status {
    if (a.op == Op::mse || a.op == Op::mse_bwd) return f(t, SquaredDistance());
    return f(t, Divergence<Guarded>{a.log_target});
  });
}

}  // namespace ridge::pointwise_loss
