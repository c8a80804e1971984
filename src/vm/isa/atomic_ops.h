// What atomics and reductions do with the old value: one type per operation, and the update of a
// word of global memory, which other workers may update at the same time.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "vm/isa/float.h"
#include "vm/isa/half.h"

namespace ridge::vm {

// Floating-point additions of global memory flush subnormals in f32, and leave a f64 NaN as it is;
// those of shared memory do neither.
struct Add {
  template <class T>
  T operator()(T old, T b, T) const {
    if constexpr (std::is_integral_v<T>) return wrap_add(old, b);
    else return sum(old, b);
  }
  template <class T>
  static T in_global(T old, T b) {
    if constexpr (std::is_same_v<T, float>) return flush(sum(flush(old), flush(b)));
    else if constexpr (std::is_same_v<T, double>)
      return b != b ? b : old != old ? old : sum(old, b);
    else return wrap_add(old, b);
  }
  static float sum(float old, float b) { return canonical(old + b); }
  static double sum(double old, double b) {
    if (old != old) return double_of(bits_of(old) | kQuiet64);
    if (b != b) return double_of(bits_of(b) | kQuiet64);
    const double r = old + b;
    return r == r ? r : double_of(kNan64);
  }
};
struct Min {
  auto operator()(auto old, auto b, auto) const { return b < old ? b : old; }
};
struct Max {
  auto operator()(auto old, auto b, auto) const { return old < b ? b : old; }
};
struct And {
  auto operator()(auto old, auto b, auto) const { return old & b; }
};
struct Or {
  auto operator()(auto old, auto b, auto) const { return old | b; }
};
struct Xor {
  auto operator()(auto old, auto b, auto) const { return old ^ b; }
};
struct Inc {
  auto operator()(auto old, auto b, auto) const { return old >= b ? 0 : old + 1; }
};
struct Dec {
  auto operator()(auto old, auto b, auto) const { return old == 0 || old > b ? b : old - 1; }
};
struct Exch {
  auto operator()(auto, auto b, auto) const { return b; }
};
struct Cas {
  auto operator()(auto old, auto b, auto c) const { return old == b ? c : old; }
};

// Half-precision additions: two halves of a word, or one.
template <bool Brain16>
uint16_t add16(uint16_t x, uint16_t y) {
  if constexpr (Brain16) return float_to_brain(brain_to_float(x) + brain_to_float(y));
  else return float_to_half(half_to_float(x) + half_to_float(y));
}
template <bool Brain16>
struct AddHalf {
  uint16_t operator()(uint16_t old, uint16_t b, uint16_t) const { return add16<Brain16>(old, b); }
};
template <bool Brain16>
struct AddPair {
  uint32_t operator()(uint32_t old, uint32_t b, uint32_t) const {
    return uint32_t(add16<Brain16>(uint16_t(old), uint16_t(b))) |
           uint32_t(add16<Brain16>(uint16_t(old >> 16), uint16_t(b >> 16))) << 16;
  }
};

// The lesser or greater of two halves: -0 is below +0, and a number beats a NaN.
template <bool Brain16, bool Max>
uint16_t minmax16(uint16_t x, uint16_t y) {
  constexpr uint16_t kInfinity = Brain16 ? 0x7f80 : 0x7c00;
  const auto is_nan = [](uint16_t v) { return (v & 0x7fff) > kInfinity; };
  const auto order = [](uint16_t v) { return uint16_t(v & 0x8000 ? ~v : v | 0x8000); };
  if (is_nan(x)) return is_nan(y) ? kNan16 : y;
  if (is_nan(y)) return x;
  return (Max ? order(x) > order(y) : order(x) < order(y)) ? x : y;
}
template <bool Brain16, bool Max>
struct MinMaxHalf {
  uint16_t operator()(uint16_t old, uint16_t b, uint16_t) const {
    return minmax16<Brain16, Max>(old, b);
  }
};
template <bool Brain16, bool Max>
struct MinMaxPair {
  uint32_t operator()(uint32_t old, uint32_t b, uint32_t) const {
    return uint32_t(minmax16<Brain16, Max>(uint16_t(old), uint16_t(b))) |
           uint32_t(minmax16<Brain16, Max>(uint16_t(old >> 16), uint16_t(b >> 16))) << 16;
  }
};

template <class T>
struct BitsOf {
  using U = T;
};
template <>
struct BitsOf<float> {
  using U = uint32_t;
};
template <>
struct BitsOf<double> {
  using U = uint64_t;
};

template <class T, class Op>
T update_global(uint64_t address, T b, T c) {
  using U = std::make_unsigned_t<typename BitsOf<T>::U>;
  auto* p = reinterpret_cast<U*>(address);
  U seen = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (true) {
    const T old = std::bit_cast<T>(seen);
    T result;
    if constexpr (std::is_same_v<Op, Add>) result = Add::in_global(old, b);
    else result = Op()(old, b, c);
    const U wanted = std::bit_cast<U>(result);
    if (__atomic_compare_exchange_n(p, &seen, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      return old;
  }
}
template <>
inline uint32_t update_global<uint32_t, Add>(uint64_t address, uint32_t b, uint32_t) {
  return __atomic_fetch_add(reinterpret_cast<uint32_t*>(address), b, __ATOMIC_SEQ_CST);
}

}  // namespace ridge::vm
