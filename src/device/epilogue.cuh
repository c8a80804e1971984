// Epilogues: what becomes of the sums of a product before they are stored.
//
// A functor takes a value and says what becomes of it: float operator()(float value, const At& at)
// const. It may be called for elements that are never stored, but `at` always lies inside of the
// product. A functor of pairs takes two neighbours of a row, at an even column and behind it, and
// makes one value of them: float operator()(float even, float odd, const At& at) const, with kPairs
// = true; `at` is then the place of the result. Then<A, B> is A followed by B.
#pragma once

#include <cstdint>

#include "device/activations.cuh"

namespace ridge::epilogues {

struct At {
  int64_t row, col, batch;
};

// --- Functors ---

struct Scale {
  float factor;
  __device__ __forceinline__ float operator()(float x, const At&) const { return factor * x; }
};

// By row or by column: scales (batch, m) or (batch, n).
struct RowScale {
  const float* scales;
  int64_t batch_step;
  __device__ __forceinline__ float operator()(float x, const At& at) const {
    return scales[at.batch * batch_step + at.row] * x;
  }
};
struct ColScale {
  const float* scales;
  int64_t batch_step;
  __device__ __forceinline__ float operator()(float x, const At& at) const {
    return scales[at.batch * batch_step + at.col] * x;
  }
};

template <class T>
struct Bias {
  const T* bias;  // (batch, n)
  int64_t batch_step;
  __device__ __forceinline__ float operator()(float x, const At& at) const {
    return x + to_float(bias[at.batch * batch_step + at.col]);
  }
};

// F is one of device/activations.cuh that needs no parameters.
template <class F>
struct Activate {
  __device__ __forceinline__ float operator()(float x, const At&) const { return F::value(x); }
};

template <class T>
struct Residual {
  float factor;
  const T* c;  // (batch, m, n)
  int64_t row_step, col_step, batch_step;
  __device__ __forceinline__ float operator()(float x, const At& at) const {
    return x + factor * to_float(c[at.batch * batch_step + at.row * row_step + at.col * col_step]);
  }
};

// silu(gate) up, of the neighbours (gate, up).
template <class T>
struct SwiGlu {
  static constexpr bool kPairs = true;
  __device__ __forceinline__ float operator()(float gate, float up, const At&) const {
    return activations::Silu<T>::value(gate) * up;
  }
};

// --- The largest magnitude of a row ---

// Magnitudes are compared as the bits of non-negative floats, whose order as whole numbers is that
// of the floats; NaN is above Inf. So the result does not depend on the order, and NaN stays.
__device__ __forceinline__ uint32_t magnitude_bits(float x) {
  return __float_as_uint(x) & 0x7fffffffu;
}
__device__ __forceinline__ void raise(float* amax, uint32_t bits) {
  atomicMax(reinterpret_cast<unsigned*>(amax), bits);
}

}  // namespace ridge::epilogues
