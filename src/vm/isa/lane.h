// Templates that turn a scalar lambda into the two handlers of a row. The loops are written so that
// the compiler makes SIMD of them: 32 iterations, no calls, a destination that may equal a source
// but never overlaps it in part.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "vm/exec/warp.h"
#include "vm/isa/form.h"

namespace ridge::vm {

struct Half {  // f16 and bf16 travel as bits; the arithmetic is in half.h
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};

// What a register holds for a lane. 8-bit values live in 16-bit registers.
template <Type K>
constexpr auto lane_value() {
  using enum Type;
  if constexpr (K == b8 || K == u8 || K == b16 || K == u16) return uint16_t();
  else if constexpr (K == s8 || K == s16) return int16_t();
  else if constexpr (K == b32 || K == u32) return uint32_t();
  else if constexpr (K == s32) return int32_t();
  else if constexpr (K == b64 || K == u64) return uint64_t();
  else if constexpr (K == s64) return int64_t();
  else if constexpr (K == f32) return float();
  else if constexpr (K == f64) return double();
  else if constexpr (K == f16) return Half();
  else if constexpr (K == bf16) return Brain();
  else if constexpr (K == f16x2 || K == bf16x2 || K == u16x2 || K == s16x2) return uint32_t();
}
template <Type K>
using LaneT = decltype(lane_value<K>());

template <Type... Ks>
struct TypeSet {};
using Int = TypeSet<Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64>;
using Int32_64 = TypeSet<Type::u32, Type::s32, Type::u64, Type::s64>;
using Int16_32 = TypeSet<Type::u16, Type::s16, Type::u32, Type::s32>;
using Int32 = TypeSet<Type::u32, Type::s32>;
using Signed = TypeSet<Type::s16, Type::s32, Type::s64>;
using Bits = TypeSet<Type::b16, Type::b32, Type::b64>;
using Bits32_64 = TypeSet<Type::b32, Type::b64>;
using Float = TypeSet<Type::f32, Type::f64>;

namespace detail {
template <class U>
struct LaneBits {
  U at[8 * sizeof(U) < kWarpSize ? 8 * sizeof(U) : kWarpSize];
  constexpr LaneBits() : at{} {
    for (int i = 0; i < int(sizeof(at) / sizeof(U)); ++i) at[i] = U(U(1) << i);
  }
};
// A lane's bit in a mask of the lanes' own width, so that a mask expands to a vector by AND and
// compare. 16-bit lanes take the mask in two halves.
template <int Size>
inline constexpr LaneBits<
    std::conditional_t<Size == 8, uint64_t, std::conditional_t<Size == 4, uint32_t, uint16_t>>>
    kLaneBits{};
}  // namespace detail

// d[i] = lane i of `bits` ? yes(i) : no(i). Both are computed for every lane; they must have no
// side effects.
template <class D, class Yes, class No>
inline void select_lanes(D* d, uint32_t bits, Yes yes, No no) {
  if constexpr (sizeof(D) == 2 && !std::is_class_v<D>) {
    for (int half = 0; half < kWarpSize; half += 16) {
      const uint16_t m = uint16_t(bits >> half);
#pragma GCC ivdep
      for (int i = 0; i < 16; ++i) {
        const D y = yes(half + i), n = no(half + i);
        d[half + i] = m & detail::kLaneBits<2>.at[i] ? y : n;
      }
    }
  } else if constexpr (std::is_floating_point_v<D>) {
    // In one loop the compiler would compute only where it must (an operation might trap), and so
    // not vectorise.
    D y[kWarpSize];
    for (int i = 0; i < kWarpSize; ++i) y[i] = yes(i);
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) {
      const D n = no(i);
      d[i] = bits & detail::kLaneBits<sizeof(D)>.at[i] ? y[i] : n;
    }
  } else if constexpr ((sizeof(D) == 4 || sizeof(D) == 8) && !std::is_class_v<D>) {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) {
      const D y = yes(i), n = no(i);
      d[i] = bits & detail::kLaneBits<sizeof(D)>.at[i] ? y : n;
    }
  } else {
    for (int i = 0; i < kWarpSize; ++i) d[i] = (bits >> i) & 1 ? yes(i) : no(i);
  }
}

// So few active lanes that one after the other costs less than all 32 at once.
inline bool is_few(uint32_t mask) { return __builtin_popcount(mask) <= 4; }

// f(i) for each active lane, one after the other: for few lanes, and for work that cannot be
// vectorised or must not run on inactive lanes.
template <class F>
inline void each_active(uint32_t mask, F f) {
  while (mask) {
    f(__builtin_ctz(mask));
    mask &= mask - 1;
  }
}
// d[i] = f(i) for the active lanes. Inactive lanes may be computed too; f must have no side
// effects.
template <bool Full, class D, class F>
inline void each_lane(D* d, uint32_t mask, F f) {
  if constexpr (Full) {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) d[i] = f(i);
  } else if (is_few(mask)) {
    each_active(mask, [&](int i) { d[i] = f(i); });
  } else {
    select_lanes(d, mask, f, [d](int i) { return d[i]; });
  }
}

// Lane 0's bit becomes the highest.
inline uint32_t reversed(uint32_t mask) {
  mask = (mask >> 1 & 0x55555555u) | (mask & 0x55555555u) << 1;
  mask = (mask >> 2 & 0x33333333u) | (mask & 0x33333333u) << 2;
  mask = (mask >> 4 & 0x0f0f0f0fu) | (mask & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(mask);
}
// The order in which stores of `Bytes` a lane land: where lanes store to one address, it decides
// who wins. Hardware moves 128 bytes at a time, so 8-byte stores go a half-warp after the other and
// 16-byte ones a quarter; within each the lowest lane wins (read off an H200).
template <int Bytes, class F>
inline void each_active_storing(uint32_t mask, F f) {
  constexpr int kGroup = Bytes <= 4 ? 32 : Bytes == 8 ? 16 : 8;
  const uint32_t lanes = reversed(mask);
  for (int first = 0; first < kWarpSize; first += kGroup) {
    // The group's lanes, the highest in the lowest bit.
    uint32_t left = lanes >> (kWarpSize - kGroup - first);
    if constexpr (kGroup < 32) left &= (1u << kGroup) - 1;
    each_active(left, [&](int i) { f(first + kGroup - 1 - i); });
  }
}
template <int Bytes, class F>
inline void each_lane_storing(F f) {
  constexpr int kGroup = Bytes <= 4 ? 32 : Bytes == 8 ? 16 : 8;
  for (int first = 0; first < kWarpSize; first += kGroup)
    for (int i = first + kGroup; i-- > first;) f(i);
}

// One, two or three sources of the same type T; the result's type is what the lambda returns.
template <class T, auto Op, bool Full>
const Inst* lane_handler(Warp& w, const Inst* inst) {
  const T* a = w.src<T>(inst->a);
  if constexpr (std::is_invocable_v<decltype(Op), T>) {
    using R = decltype(Op(T{}));
    each_lane<Full>(w.reg<R>(inst->d), w.mask, [&](int i) { return Op(a[i]); });
  } else if constexpr (std::is_invocable_v<decltype(Op), T, T>) {
    using R = decltype(Op(T{}, T{}));
    const T* b = w.src<T>(inst->b);
    each_lane<Full>(w.reg<R>(inst->d), w.mask, [&](int i) { return Op(a[i], b[i]); });
  } else {
    using R = decltype(Op(T{}, T{}, T{}));
    const T* b = w.src<T>(inst->b);
    const T* c = w.src<T>(inst->c);
    each_lane<Full>(w.reg<R>(inst->d), w.mask, [&](int i) { return Op(a[i], b[i], c[i]); });
  }
  return inst + 1;
}

// A second (and third) source of a fixed type: shifts take a u32 amount, mad.wide an addend of
// twice the width.
template <class T, class B, class C, auto Op, bool Full>
const Inst* lane_mixed_handler(Warp& w, const Inst* inst) {
  const T* a = w.src<T>(inst->a);
  const B* b = w.src<B>(inst->b);
  if constexpr (std::is_void_v<C>) {
    using R = decltype(Op(T{}, B{}));
    each_lane<Full>(w.reg<R>(inst->d), w.mask, [&](int i) { return Op(a[i], b[i]); });
  } else {
    using R = decltype(Op(T{}, B{}, C{}));
    const C* c = w.src<C>(inst->c);
    each_lane<Full>(w.reg<R>(inst->d), w.mask, [&](int i) { return Op(a[i], b[i], c[i]); });
  }
  return inst + 1;
}

namespace detail {
template <class Set>
struct Pick;
template <Type... Ks>
struct Pick<TypeSet<Ks...>> {
  // Calls make<K>() for the K that equals `type`.
  template <class Make>
  static Handlers of(Type type, Make make) {
    Handlers h;
    (void)((type == Ks ? (h = make.template operator()<Ks>(), true) : false) || ...);
    return h;
  }
};
}  // namespace detail

// Rows: {"add[%int]", "d,a,b", Unit::alu, kRegs, lane<Int, [](auto a, auto b) { … }>}
template <class Set, auto Op>
Handlers lane(const Form& form) {
  return detail::Pick<Set>::of(form.type(), []<Type K>() -> Handlers {
    return {lane_handler<LaneT<K>, Op, true>, lane_handler<LaneT<K>, Op, false>};
  });
}
template <class Set, class B, auto Op>
Handlers lane_with(const Form& form) {
  return detail::Pick<Set>::of(form.type(), []<Type K>() -> Handlers {
    return {lane_mixed_handler<LaneT<K>, B, void, Op, true>,
            lane_mixed_handler<LaneT<K>, B, void, Op, false>};
  });
}

template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
using Wider = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

// PTX integers wrap; C++'s signed ones must not be asked to.
template <class T>
constexpr T wrap_add(T a, T b) {
  return T(Unsigned<T>(a) + Unsigned<T>(b));
}
template <class T>
constexpr T wrap_sub(T a, T b) {
  return T(Unsigned<T>(a) - Unsigned<T>(b));
}
template <class T>
constexpr T wrap_mul(T a, T b) {
  if constexpr (sizeof(T) == 2) return T(uint32_t(uint16_t(a)) * uint32_t(uint16_t(b)));
  else return T(Unsigned<T>(a) * Unsigned<T>(b));
}

// 32 comparison results as a predicate.
template <class F>
inline uint32_t lane_bits(F f) {
  uint8_t byte[kWarpSize];
#pragma GCC ivdep
  for (int i = 0; i < kWarpSize; ++i) byte[i] = f(i) ? 0xff : 0;
  uint32_t bits = 0;
#ifdef __SSE2__
  for (int half = 0; half < 2; ++half) {
    typedef char Bytes16 __attribute__((vector_size(16)));
    Bytes16 v;
    __builtin_memcpy(&v, byte + 16 * half, 16);
    bits |= uint32_t(__builtin_ia32_pmovmskb128(v)) << (16 * half);
  }
#else
  for (int i = 0; i < kWarpSize; ++i) bits |= uint32_t(byte[i] & 1) << i;
#endif
  return bits;
}

}  // namespace ridge::vm
