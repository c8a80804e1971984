// Where segments start, and the operator that scans them.
#pragma once

#include "kernels/scan/operators.cuh"
#include "kernels/segmented_scan/segmented_scan.h"

namespace ridge::segmented_scan {

struct Heads {
  const uint8_t* heads;
  __device__ const uint8_t* data() const { return heads; }
  __device__ __forceinline__ bool operator()(int64_t i) const { return heads[i] != 0; }
};
struct Keys {
  const int32_t* keys;
  __device__ const int32_t* data() const { return keys; }
  __device__ __forceinline__ bool operator()(int64_t i) const {
    return i > 0 && keys[i] != keys[i - 1];
  }
};

// A run of elements: its sum from its last head on, and whether it has a head. Runs combine
// associatively, so every scan is a segmented one over these pairs. It does not commute.
template <class T>
struct Run {
  T sum;
  uint32_t has_head;
};
template <class T>
struct Append {
  __host__ __device__ Run<T> identity() const { return {T(0), 0}; }
  // Chosen, not multiplied by 0: a NaN stays in its segment.
  __host__ __device__ Run<T> operator()(const Run<T>& a, const Run<T>& b) const {
    return {b.has_head ? b.sum : scan::Sum<T>()(a.sum, b.sum), a.has_head | b.has_head};
  }
};

constexpr const char* kNotScanned = "scans i32, i64 and f32";
constexpr bool is_scanned(Dtype dtype) {
  return dtype == Dtype::i32 || dtype == Dtype::i64 || dtype == Dtype::f32;
}

// Calls f(T{}, marks).
template <class F>
auto with_types(const Args& a, F f) {
  const auto with_type = [&](auto t) { return a.keys ? f(t, Keys{a.keys}) : f(t, Heads{a.heads}); };
  switch (a.dtype) {
    case Dtype::i64: return with_type(int64_t());
    case Dtype::f32: return with_type(float());
    default: return with_type(int32_t());
  }
}

}  // namespace ridge::segmented_scan
