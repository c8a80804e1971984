// The operators of reductions that Ridge itself has: Sum, Mean, NormL1, NormL2, Dot, CountEqual,
// Product, Max, Min, ArgMax. What an operator is, ridge/detail/reduce_op.cuh says.
#pragma once

#include <climits>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/convert.cuh"
#include "device/ptx/minmax.cuh"
#include "ridge/detail/reduce_op.cuh"  // IWYU pragma: export

namespace ridge::reduction {

// E: float or int32_t.

// Integers are added and multiplied in 64 bits, so that sums are exact.
template <class E>
using Wide = std::conditional_t<std::is_same_v<E, float>, float, int64_t>;

#define RIDGE_BOTH __host__ __device__ __forceinline__  // partials may be combined on the CPU

template <class E>
struct Additive {
  RIDGE_BOTH Wide<E> identity() const { return 0; }
  RIDGE_BOTH Wide<E> combine(Wide<E> a, Wide<E> b) const { return a + b; }
  RIDGE_BOTH Wide<E> finish(Wide<E> a) const { return a; }
};
template <class E>
struct Sum : Additive<E> {
  __device__ Wide<E> transform(E x) const { return x; }
};
template <class E>
struct Mean : Sum<E> {
  __device__ float finish(float a, int64_t count) const { return a / float(count); }
};
template <class E>
struct NormL1 : Additive<E> {
  __device__ float transform(E x) const { return fabsf(x); }
};
template <class E>
struct NormL2 : Additive<E> {
  __device__ float transform(E x) const { return x * x; }
  __device__ float finish(float a) const { return sqrtf(a); }
};
template <class E>
struct Dot : Additive<E> {
  __device__ Wide<E> transform(E x, E y) const { return Wide<E>(x) * y; }
};
template <class E>
struct CountEqual : Additive<int32_t> {
  E value;
  __device__ int64_t transform(E x) const { return x == value; }
  template <int N>
  __device__ void accumulate(int64_t& acc, const E (&x)[N], int64_t) const {
    int equal = 0;  // 64 bits only once for all N
#pragma unroll
    for (int i = 0; i < N; ++i) equal += x[i] == value;
    acc += equal;
  }
};

template <class E>
struct Product {
  RIDGE_BOTH Wide<E> identity() const { return 1; }
  __device__ Wide<E> transform(E x) const { return x; }
  RIDGE_BOTH Wide<E> combine(Wide<E> a, Wide<E> b) const {
    if constexpr (std::is_same_v<E, float>) return a * b;
    else return int64_t(uint64_t(a) * uint64_t(b));  // wraps, as in PyTorch
  }
  RIDGE_BOTH Wide<E> finish(Wide<E> a) const { return a; }
};

// Of no elements: the least number that there is.
template <class E>
struct Max {
  RIDGE_BOTH E identity() const {
    if constexpr (std::is_same_v<E, float>) return -INFINITY;
    else return INT32_MIN;
  }
  __device__ E transform(E x) const { return x; }
  RIDGE_BOTH E combine(E a, E b) const {
    if constexpr (std::is_same_v<E, float>) return max_or_nan(a, b);
    else return a > b ? a : b;
  }
  RIDGE_BOTH E finish(E a) const { return a; }
};
template <class E>
struct Min {
  RIDGE_BOTH E identity() const {
    if constexpr (std::is_same_v<E, float>) return INFINITY;
    else return INT32_MAX;
  }
  __device__ E transform(E x) const { return x; }
  RIDGE_BOTH E combine(E a, E b) const {
    if constexpr (std::is_same_v<E, float>) return min_or_nan(a, b);
    else return a < b ? a : b;
  }
  RIDGE_BOTH E finish(E a) const { return a; }
};

// Numbers whose order as integers is that of the elements: the bits of an f32, the negative ones
// reversed. Both zeros have one rank, NaN the highest.
RIDGE_BOTH uint32_t rank_of(int32_t x) { return uint32_t(x) ^ 0x80000000u; }
RIDGE_BOTH uint32_t rank_of(float x) {
  if (x != x) return UINT32_MAX;
  uint32_t bits;
  x += 0.0f;  // of both zeros the positive one
  memcpy(&bits, &x, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// The first maximum; a NaN counts as more than anything. Of no elements: -1.
struct Best {
  int64_t index;
  uint32_t rank;
};
template <class E>
struct ArgMax {
  RIDGE_BOTH Best identity() const { return {INT64_MAX, 0}; }
  __device__ Best transform(E x, int64_t index) const { return {index, rank_of(x)}; }
  RIDGE_BOTH Best combine(Best a, Best b) const {
    const bool first = a.rank > b.rank || (a.rank == b.rank && a.index < b.index);
    return {first ? a.index : b.index, first ? a.rank : b.rank};
  }
  RIDGE_BOTH int64_t finish(Best a) const { return a.index == INT64_MAX ? -1 : a.index; }

  // Indices grow, so a tie changes nothing, and ranks and 64-bit indices are needed once for all N.
  template <int N>
  __device__ void accumulate(Best& acc, const E (&x)[N], int64_t first) const {
    E best = x[0];
#pragma unroll
    for (int i = 1; i < N; ++i) best = Max<E>().combine(best, x[i]);
    int at = 0;
#pragma unroll
    for (int i = N - 1; i >= 0; --i) at = x[i] == best ? i : at;
    if (best != best) {  // NaN equals nothing
#pragma unroll
      for (int i = N - 1; i >= 0; --i) at = x[i] != x[i] ? i : at;
    }
    const uint32_t rank = rank_of(best);
    // The identity has a rank that an integer may have, and an index that none has.
    if (rank > acc.rank || acc.index == INT64_MAX) acc = {first + at, rank};
  }
  // The highest rank, and of those that have it the lowest index, in its two halves.
  __device__ Best combine_warp(Best a, unsigned lanes) const {
    const uint32_t rank = __reduce_max_sync(lanes, a.rank);
    const uint32_t upper = rank == a.rank ? uint32_t(uint64_t(a.index) >> 32) : UINT32_MAX;
    const uint32_t high = __reduce_min_sync(lanes, upper);
    const uint32_t lower = upper == high ? uint32_t(a.index) : UINT32_MAX;
    return {int64_t(uint64_t(high) << 32 | __reduce_min_sync(lanes, lower)), rank};
  }
};

#undef RIDGE_BOTH

}  // namespace ridge::reduction
