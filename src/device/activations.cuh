// The activations of neural networks and their gradients, in f32, as cheap as the format of the
// result allows.
//
// Each is a class for the format T of the tensors, with
//   value(x)         what it is
//   gradient(x, dy)  dy times its slope
// and, where both are wanted at once,
//   both(x)          value and slope
// An H200 brings 4.75 two-byte numbers per clock and SM to a kernel that reads one and writes one,
// which leaves 27 instructions and 3.4 special functions for each: loads, conversions and all. So
// two-byte formats take formulas that are off by at most 1/8 of their unit roundoff (2^-8 in bf16,
// 2^-11 in f16), and f32 those that are off by a few of its own. The polynomials are minimax fits
// of the relative error. Results under 2^-126 may come out as 0.
//
// NaN, the infinities and what happens at a kink are as in PyTorch, and so silu and both gelus of
// -Inf are NaN.
#pragma once

#include "device/convert.cuh"
#include "device/ptx/approx.cuh"

namespace ridge::activations {

struct Parameters {
  float alpha = 0, beta = 0;  // of leaky_relu, hardtanh, clip, elu, softplus: see there
};

struct ValueAndSlope {
  float value, slope;
};

template <class T>
constexpr bool kIsWide = sizeof(T) == sizeof(float);
constexpr float kLog2E = 1.4426950408889634f;

template <class T>
__device__ __forceinline__ float exponential(float x) {
  if constexpr (kIsWide<T>) return expf(x);
  return ptx::exp2_approx(x * kLog2E);
}
template <class T>
__device__ __forceinline__ float reciprocal(float x) {
  if constexpr (kIsWide<T>) return __frcp_rn(x);
  return ptx::rcp_approx(x);
}
// c[0] + c[1] x + …
template <int N>
__device__ __forceinline__ float polynomial(const float (&c)[N], float x) {
  float y = c[N - 1];
#pragma unroll
  for (int i = N - 2; i >= 0; --i) y = fmaf(y, x, c[i]);
  return y;
}

template <class T>
struct Relu {
  static __device__ float value(float x) { return x < 0 ? 0 : x; }
  static __device__ float gradient(float x, float dy) { return x <= 0 ? 0 : dy; }
};

template <class T>
struct LeakyRelu {
  float slope;  // for x < 0
  __device__ LeakyRelu(Parameters p) : slope(p.alpha) {}
  __device__ float value(float x) const { return x > 0 ? x : x * slope; }
  __device__ float gradient(float x, float dy) const { return x > 0 ? dy : dy * slope; }
};

template <class T>
struct Clip {
  float low, high;
  __device__ Clip(Parameters p) : low(p.alpha), high(p.beta) {}
  __device__ float value(float x) const {
    const float above = x < low ? low : x;  // comparisons, since fmaxf would lose a NaN
    return above > high ? high : above;
  }
  __device__ float gradient(float x, float dy) const { return x >= low && x <= high ? dy : 0; }
};

// As clip, but nothing flows back from the ends themselves.
template <class T>
struct Hardtanh : Clip<T> {
  using Clip<T>::Clip;
  __device__ float gradient(float x, float dy) const {
    return x <= this->low || x >= this->high ? 0 : dy;
  }
};

template <class T>
struct Sigmoid {
  static __device__ float value(float x) { return reciprocal<T>(1 + exponential<T>(-x)); }
  static __device__ float gradient(float x, float dy) {
    const float e = exponential<T>(-fabsf(x));  // the slope is even; this way nothing overflows
    const float r = reciprocal<T>(1 + e);
    return e * r * r * dy;
  }
};

template <class T>
struct Tanh {
  static __device__ float value(float x) {
    if constexpr (kIsWide<T>) return tanhf(x);
    if constexpr (std::is_same_v<T, __nv_bfloat16>) return ptx::tanh_approx(x);
    const float far = fmaf(-2, reciprocal<T>(1 + exponential<T>(2 * x)), 1);
    const float near = x * polynomial({0.99999375f, -0.33262581f, 0.12127787f}, x * x);  // 6e-6
    return fabsf(x) < 0.4f ? near : far;
  }
  static __device__ float gradient(float x, float dy) {
    const float e = exponential<T>(-2 * fabsf(x));
    const float r = reciprocal<T>(1 + e);
    return 4 * e * r * r * dy;
  }
};

// x * Phi(x), with the normal distribution's Phi.
template <class T>
struct Gelu {
  // Phi(-a) = bell * ratio, a >= 0: exp(-a^2 / 2) and what is left, a smooth function of 1 / (1 +
  // a).
  static __device__ float bell(float a) { return ptx::exp2_approx(a * a * (-0.5f * kLog2E)); }
  static __device__ float ratio(float a) {  // 5e-9
    constexpr float kC[] = {-7.06629271e-06f, 0.103904821f, 0.101729214f,  0.109421641f,
                            0.031370353f,     0.199831039f, -0.200483829f, 0.290747613f,
                            -0.170422956f,    0.0339091718f};
    return polynomial(kC, ptx::rcp_approx(fmaf(a, 0.26f, 1)));
  }
  // Two-byte formats save a special function: log2 Phi(-a) is a polynomial, as far as the format
  // has numbers for Phi. It goes on downwards behind that, and so its power goes to 0.
  static __device__ float lower(float a) {
    if constexpr (kIsWide<T>) {
      return bell(a) * ratio(a);
    } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
      constexpr float kC[] = {-1.00071609f,   -1.14353061f,     -0.472079456f,   -0.0448674746f,
                              0.00557046244f, -0.000432886183f, 1.87074475e-05f, -3.40871026e-07f};
      return ptx::exp2_approx(polynomial(kC, a));  // 5e-4 to a = 12.95
    } else {
      constexpr float kC[] = {-0.999995351f,  -1.15125036f,    -0.458466917f,   -0.0539566353f,
                              0.00850572903f, -0.00092984509f, 6.14946475e-05f, -1.82871918e-06f};
      return ptx::exp2_approx(polynomial(kC, a));  // 7e-6 to a = 5.8
    }
  }
  // x Phi(x) = max(x, 0) - |x| Phi(-|x|), which is exact to the last bits in both tails.
  static __device__ float value(float x) {
    const float bounded = fminf(x, 16);  // so that Inf does not meet Phi(-Inf) = 0; but -Inf does
    return fmaf(-fabsf(bounded), lower(fabsf(x)), fmaxf(x, 0));  // lower brings NaN
  }
  static __device__ ValueAndSlope both(float x) {
    constexpr float kDensity = 0.3989422804014327f;  // 1 / sqrt(2 pi)
    const float a = fabsf(x), b = bell(a);
    const float below = kIsWide<T> ? b * ratio(a) : lower(a);
    return {fmaf(-fabsf(fminf(x, 16)), below, fmaxf(x, 0)),
            fmaf(x * b, kDensity, x < 0 ? below : 1 - below)};
  }
  static __device__ float gradient(float x, float dy) { return dy * both(x).slope; }
};

// x / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + 0.044715 x^3): the form of (1 + tanh(u)) x / 2 that
// keeps its digits where tanh is close to -1.
template <class T>
struct GeluTanh {
  static constexpr float kLinear = -2 * 0.7978845608028654f * kLog2E;
  static constexpr float kCubic = 0.044715f * kLinear;
  static __device__ float value(float x) {
    const float e = ptx::exp2_approx(x * fmaf(kCubic, x * x, kLinear));
    return x * reciprocal<T>(1 + e);
  }
  static __device__ float slope(float x) {
    // Behind 24 there is nothing left of e, while x * x would overflow. NaN is lost here, but not
    // in the product with x.
    const float a = fminf(fabsf(x), 24);
    const float e = ptx::exp2_approx(a * fmaf(kCubic, a * a, kLinear));  // exp(-2 u(|x|))
    const float r = reciprocal<T>(1 + e), er = e * r;
    const float twice_du = fmaf(-3 * kCubic / kLog2E, a * a, -kLinear / kLog2E);
    return fmaf(x * (er * r), twice_du, x < 0 ? er : r);
  }
  static __device__ float gradient(float x, float dy) { return dy * slope(x); }
};

template <class T>
struct Silu {
  static __device__ float value(float x) { return x * Sigmoid<T>::value(x); }
  static __device__ ValueAndSlope both(float x) {
    const float e = exponential<T>(-fabsf(x));
    const float r = reciprocal<T>(1 + e), er = e * r;
    const float s = x < 0 ? er : r, rest = x < 0 ? r : er;  // sigmoid(x), 1 - sigmoid(x)
    return {x * s, s * fmaf(x, rest, 1)};
  }
  static __device__ float gradient(float x, float dy) { return dy * both(x).slope; }
};

template <class T>
struct Elu {
  float alpha;
  __device__ Elu(Parameters p) : alpha(p.alpha) {}
  static __device__ float exp_minus_1(float x) {  // x <= 0; near 0 the difference has no digits
    if constexpr (kIsWide<T>) {
      constexpr float kC[] = {
          1, 0.499999017f, 0.166650593f, 0.0415693559f, 0.00806245767f, 0.00103013404f};  // 1e-8
      return x > -0.7f ? x * polynomial(kC, x) : expf(x) - 1;
    } else {
      constexpr float kC[] = {0.99998042f, 0.49861465f, 0.15179895f};  // 2e-5
      return x > -0.25f ? x * polynomial(kC, x) : exponential<T>(x) - 1;
    }
  }
  __device__ float value(float x) const { return x > 0 ? x : alpha * exp_minus_1(x); }
  __device__ float gradient(float x, float dy) const {
    return x <= 0 ? dy * alpha * exponential<T>(x) : dy;
  }
};

// log(1 + exp(sharpness x)) / sharpness, and x itself above the threshold.
template <class T>
struct Softplus {
  float sharpness, threshold;
  __device__ Softplus(Parameters p) : sharpness(p.alpha), threshold(p.beta) {}
  static __device__ float log1p_ratio(float e) {  // log(1 + e) / e, 0 <= e <= 1
    if constexpr (kIsWide<T>) {
      constexpr float kC[] = {1,
                              -0.499999017f,
                              0.333299637f,
                              -0.249541357f,
                              0.196759462f,
                              -0.15305607f,
                              0.106036738f,
                              -0.0569596738f,
                              0.0198515151f,
                              -0.00324403285f};
      return polynomial(kC, e);  // 5e-9
    } else {
      constexpr float kC[] = {0.9999916f,   -0.49936141f, 0.32520686f,
                              -0.21004902f, 0.10122252f,  -0.02386921f};
      return polynomial(kC, e);  // 8e-6
    }
  }
  __device__ float value(float x) const {
    const float z = sharpness * x;
    const float e = exponential<T>(-fabsf(z));
    const float y = fmaf(e, log1p_ratio(e), fmaxf(z, 0)) * reciprocal<T>(sharpness);
    return z > threshold ? x : y;
  }
  __device__ float gradient(float x, float dy) const {
    const float z = sharpness * x;
    return z > threshold ? dy : dy * Sigmoid<T>::value(z);
  }
};

}  // namespace ridge::activations
