// 256-bit vectors for the arithmetic every kernel spends its time in. Other handlers are left to the compiler's
// vectoriser; these are not, because it cannot find the two tricks here: one unordered compare serves two vectors, and
// a warp with no NaN among its results needs nothing more.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace ridge::vm {

#if defined(__AVX2__) && defined(__FMA__)

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
  // The lanes of `mask` (its low bits) from `then`, the others from `otherwise`.
  static V select(uint32_t mask, V then, V otherwise) {
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i hit = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(int(mask)), bit), bit);
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
  static V select(uint32_t mask, V then, V otherwise) {
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    const __m256i hit = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(int64_t(mask)), bit), bit);
    return _mm256_blendv_pd(otherwise, then, _mm256_castsi256_pd(hit));
  }
};

#endif

}  // namespace ridge::vm
