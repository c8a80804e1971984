// Vectors for floating-point handlers. Where a lane's work has conditions or bit tricks in it, the
// compiler's vectoriser gives up; written on these types (GCC's own: arithmetic, comparison and ?:
// by element) it becomes SIMD on any x86-64.
#pragma once

#include <immintrin.h>

#include <cmath>
#include <cstdint>
#include <cstring>

// Without AVX, vectors of 32 bytes travel between functions in memory; all of ours are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace ridge::vm {

typedef float F8 __attribute__((vector_size(32)));
typedef int32_t I8 __attribute__((vector_size(32)));
typedef uint32_t U8 __attribute__((vector_size(32)));
typedef float F4 __attribute__((vector_size(16)));
typedef int32_t I4 __attribute__((vector_size(16)));
typedef double D4 __attribute__((vector_size(32)));
typedef int64_t L4 __attribute__((vector_size(32)));
typedef uint64_t UL4 __attribute__((vector_size(32)));
typedef uint16_t H16 __attribute__((vector_size(32)));

template <class V, class T>
[[gnu::always_inline]] inline V load(const T* lanes) {
  V v;
  std::memcpy(&v, lanes, sizeof v);
  return v;
}
template <class V, class T>
[[gnu::always_inline]] inline void store(T* lanes, const V& v) {
  std::memcpy(lanes, &v, sizeof v);
}
// The same bits as another type of the same size.
template <class To, class From>
[[gnu::always_inline]] inline To as(const From& v) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &v, sizeof to);
  return to;
}
// The low 8 bits of `mask` as lanes of ones.
[[gnu::always_inline]] inline I8 lanes_of(uint32_t mask) {
  const I8 bit = {1, 2, 4, 8, 16, 32, 64, 128};
  return (int32_t(mask) & bit) != 0;
}
[[gnu::always_inline]] inline F8 multiply_add(F8 a, F8 b, F8 c) {
#ifdef __FMA__
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}
[[gnu::always_inline]] inline D4 multiply_add(D4 a, D4 b, D4 c) {
#ifdef __FMA__
  return _mm256_fmadd_pd(a, b, c);
#else
  return a * b + c;
#endif
}
// f(x…) computed in f64, four lanes at a time; f returns F4.
template <class F, class... X>
[[gnu::always_inline]] inline F8 in_double(F f, const X&... x) {
  const F4 low = f(__builtin_convertvector(__builtin_shufflevector(x, x, 0, 1, 2, 3), D4)...);
  const F4 high = f(__builtin_convertvector(__builtin_shufflevector(x, x, 4, 5, 6, 7), D4)...);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}

[[gnu::always_inline]] inline F8 square_root(F8 x) {
#ifdef __AVX__
  return _mm256_sqrt_ps(x);
#else
  for (int i = 0; i < 8; ++i) x[i] = std::sqrt(x[i]);
  return x;
#endif
}

// Subnormals become zeros of their sign.
[[gnu::always_inline]] inline F8 flush(F8 x) {
  const I8 bits = as<I8>(x);
  return as<F8>((bits & 0x7fffffff) > 0x007fffff ? bits : bits & INT32_MIN);
}

#if defined(__AVX2__) && defined(__FMA__)

// The arithmetic every kernel spends its time in, with the trick no compiler finds: one unordered
// compare tests two vectors for NaNs.
template <class T>
struct Vector;

template <>
struct Vector<float> {
  using V = __m256;
  static constexpr int kLanes = 8;
  static V load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, V v) { _mm256_storeu_ps(p, v); }
  static V unordered(V a, V b) { return _mm256_cmp_ps(a, b, _CMP_UNORD_Q); }
  static V either(V a, V b) { return _mm256_or_ps(a, b); }
  static bool any(V mask) { return _mm256_movemask_ps(mask) != 0; }
  static V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  static V sqrt(V a) { return _mm256_sqrt_ps(a); }
  static V one() { return _mm256_set1_ps(1.0f); }
  static bool has_lanes(uint32_t mask) { return mask & 0xff; }
  // -0 too becomes +0.
  static V saturate(V v) { return _mm256_min_ps(_mm256_max_ps(v, _mm256_setzero_ps()), one()); }
  // The lanes of `mask` (its low bits) from `then`, the others from `otherwise`.
  static V select(uint32_t mask, V then, V otherwise) {
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i hit =
        _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(int(mask)), bit), bit);
    return _mm256_blendv_ps(otherwise, then, _mm256_castsi256_ps(hit));
  }
};

template <>
struct Vector<double> {
  using V = __m256d;
  static constexpr int kLanes = 4;
  static V load(const double* p) { return _mm256_loadu_pd(p); }
  static void store(double* p, V v) { _mm256_storeu_pd(p, v); }
  static V unordered(V a, V b) { return _mm256_cmp_pd(a, b, _CMP_UNORD_Q); }
  static V either(V a, V b) { return _mm256_or_pd(a, b); }
  static bool any(V mask) { return _mm256_movemask_pd(mask) != 0; }
  static V fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
  static V sqrt(V a) { return _mm256_sqrt_pd(a); }
  static V one() { return _mm256_set1_pd(1.0); }
  static bool has_lanes(uint32_t mask) { return mask & 0xf; }
  static V saturate(V v) { return _mm256_min_pd(_mm256_max_pd(v, _mm256_setzero_pd()), one()); }
  static V select(uint32_t mask, V then, V otherwise) {
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    const __m256i hit =
        _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(int64_t(mask)), bit), bit);
    return _mm256_blendv_pd(otherwise, then, _mm256_castsi256_pd(hit));
  }
};

#endif

}  // namespace ridge::vm
