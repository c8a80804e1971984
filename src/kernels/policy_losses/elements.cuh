// What one element adds to its loss, and its gradient. The rungs differ in the arithmetic, and in
// how the sums are made.
#pragma once

#include <algorithm>
#include <cmath>

#include "device/convert.cuh"
#include "device/lanes.cuh"
#include "kernels/policy_losses/policy_losses.h"
#include "select/select.h"

namespace ridge::policy_losses {

// The formulas with probabilities, as they are published: wrong where a probability is 0 in f32,
// which it is from a log-probability of -104 on.
struct Published {
  static __device__ __forceinline__ float ratio(float logp, float other) {
    return expf(logp) / expf(other);
  }
  static __device__ __forceinline__ float log_ratio(float logp, float other) {
    return logf(ratio(logp, other));
  }
  static __device__ __forceinline__ float sigmoid(float h) { return 1 / (1 + expf(-h)); }
  static __device__ __forceinline__ float log_sigmoid(float h) { return logf(sigmoid(h)); }
  static __device__ __forceinline__ float ratio_less_1(float logp, float other) {
    return ratio(logp, other) - 1;
  }
};
// The same with differences of logarithms. exp(d) - 1 has all its digits where d is small.
struct InLogs {
  static __device__ __forceinline__ float ratio(float logp, float other) {
    return expf(logp - other);
  }
  static __device__ __forceinline__ float log_ratio(float logp, float other) {
    return logp - other;
  }
  static __device__ __forceinline__ float sigmoid(float h) {
    const float e = expf(-fabsf(h));  // never above 1
    return (h >= 0 ? 1 : e) / (1 + e);
  }
  static __device__ __forceinline__ float log_sigmoid(float h) {
    return fminf(h, 0) - log1pf(expf(-fabsf(h)));
  }
  static __device__ __forceinline__ float ratio_less_1(float logp, float other) {
    return expm1f(logp - other);
  }
};

// The clipped surrogate of an advantage, and its derivative by logp. Where both sides are equal,
// nothing is clipped.
struct Surrogate {
  float value, derivative;

  __device__ __forceinline__ Surrogate(const Args& a, float ratio, float advantage) {
    const float clipped = fminf(fmaxf(ratio, 1 - a.clip_low), 1 + a.clip_high);
    const float plain = ratio * advantage, limited = clipped * advantage;
    value = plain <= limited ? plain : limited;
    derivative = plain <= limited ? plain : 0;
    if (isnan(plain)) value = derivative = plain;
  }
};

template <class T>
__device__ __forceinline__ float at(const Args& a, int tensor, int64_t i) {
  return to_float(static_cast<const T*>(a.in[tensor])[i]);
}
template <class T>
__device__ __forceinline__ void put(const Args& a, int gradient, int64_t i, float value) {
  static_cast<T*>(a.gradients[gradient])[i] = from_float<T>(value);
}

// Adds element i, of `weight` in the mean, to the sums, and writes its gradients.
template <Op op, class T, class Math>
__device__ __forceinline__ void add_element(const Args& a, int64_t i, int64_t row, float weight,
                                            float (&sums)[kMostSums]) {
  if (weight == 0) {  // masked
    put<T>(a, 0, i, 0);
    if (op != Op::grpo) put<T>(a, 1, i, 0);
    return;
  }
  if constexpr (op == Op::ppo) {
    const Surrogate s(a, Math::ratio(at<T>(a, 0, i), at<T>(a, 1, i)), at<T>(a, 2, i));
    const float value = at<T>(a, 3, i), should_be = at<T>(a, 4, i);
    float distance = value - should_be, slope = distance;
    if (a.in[5]) {
      const float old = at<T>(a, 5, i);
      const bool is_clipped = !(fabsf(value - old) <= a.value_clip);
      const float other = old + copysignf(a.value_clip, value - old) - should_be;
      if (is_clipped && !(other * other <= distance * distance)) {  // the worse of both
        distance = value - value + other;                           // NaN stays NaN
        slope = isnan(distance) ? distance : 0;
      }
    }
    const float of_value = 0.5f * distance * distance, entropy = a.in[6] ? at<T>(a, 6, i) : 0;
    sums[0] += weight * (-s.value + a.value_weight * of_value - a.entropy_weight * entropy);
    sums[1] -= weight * s.value;
    sums[2] += weight * of_value;
    sums[3] += weight * entropy;
    put<T>(a, 0, i, -weight * s.derivative);
    put<T>(a, 1, i, weight * (a.value_weight * slope));
  } else if constexpr (op == Op::dpo) {
    const float h = a.beta * (Math::log_ratio(at<T>(a, 0, i), at<T>(a, 2, i)) -
                              Math::log_ratio(at<T>(a, 1, i), at<T>(a, 3, i)));
    const float right = 1 - a.smoothing, wrong = a.smoothing;
    float loss = -right * Math::log_sigmoid(h), slope = right * Math::sigmoid(-h);
    if (wrong > 0) {
      loss -= wrong * Math::log_sigmoid(-h);
      slope -= wrong * Math::sigmoid(h);
    }
    sums[0] += weight * loss;
    put<T>(a, 0, i, -weight * (a.beta * slope));
    put<T>(a, 1, i, weight * (a.beta * slope));
  } else {
    const float logp = at<T>(a, 0, i), advantage = a.advantages[row];
    const Surrogate s(a, a.in[1] ? Math::ratio(logp, at<T>(a, 1, i)) : 1, advantage);
    float loss = -s.value, slope = -s.derivative;
    if (a.in[2]) {
      const float ref = at<T>(a, 2, i), more = Math::ratio_less_1(ref, logp);
      loss += a.beta * (more - Math::log_ratio(ref, logp));
      slope -= a.beta * more;
    }
    sums[0] += weight * loss;
    put<T>(a, 0, i, weight * slope);
  }
}

// The weight of an element is 1 / (elements that are averaged), and 0 where it is masked. Without a
// mask it is known; with one, a kernel counts, and leaves 1 / count in the workspace.
constexpr int kCountThreads = 1024;
static __global__ void __launch_bounds__(kCountThreads)
    policy_losses_count(Args a, float* weights) {  // one block for each count
  __shared__ int all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  const int64_t count = a.per_token ? a.rows * a.cols : a.cols;
  const uint8_t* const mask = a.mask + blockIdx.x * count;
  int mine = 0;
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < count; i += kCountThreads) mine += mask[i] != 0;
  mine = __reduce_add_sync(kAllLanes, mine);
  if (threadIdx.x % kWarpSize == 0) atomicAdd(&all, mine);
  __syncthreads();
  if (threadIdx.x > 0) return;
  const float rows = a.per_token ? 1 : float(a.rows);
  weights[blockIdx.x] = all > 0 ? 1 / (float(all) * rows) : 0;
}
inline int64_t counts_of(const Args& a) { return !a.mask ? 0 : a.per_token ? 1 : a.rows; }
// In the workspace: the weights, then what the rung needs.
inline size_t weight_bytes(const Args& a) { return (size_t(counts_of(a)) * 4 + 15) / 16 * 16; }
inline Status launch_count(const Args& a, cudaStream_t stream) {
  if (!a.mask || a.rows * a.cols == 0) return Status::ok();
  policy_losses_count<<<unsigned(counts_of(a)), kCountThreads, 0, stream>>>(
      a, static_cast<float*>(a.workspace));
  return launch_status();
}
__device__ __forceinline__ float weight_of(const Args& a, int64_t i, int64_t row) {
  if (!a.mask) return 1 / (float(a.rows) * float(a.cols));
  return a.mask[i] ? static_cast<const float*>(a.workspace)[a.per_token ? 0 : row] : 0;
}

inline Support supports_any(const Args& a, const DeviceInfo&) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (!a.per_token && a.rows > INT32_MAX) return "counts rows up to 2^31";
  return a.rows * a.cols <= INT32_MAX ? kSupported : "counts elements up to 2^31";
}

// Calls f(T(), std::integral_constant<Op, op>()).
template <class F>
Status with_type_and_op(const Args& a, F f) {
  return with_float_type(a.dtype, [&](auto t) -> Status {
    switch (a.op) {
      case Op::ppo: return f(t, std::integral_constant<Op, Op::ppo>());
      case Op::dpo: return f(t, std::integral_constant<Op, Op::dpo>());
      default: return f(t, std::integral_constant<Op, Op::grpo>());
    }
  });
}

}  // namespace ridge::policy_losses
