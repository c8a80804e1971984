// Floating-point helpers of the instruction groups: bits, flushing, saturation and directed
// rounding.
//
// Handlers run with the CPU's default environment (round to nearest, no flushing); ArithmeticScope
// changes it around a loop. Where nothing is rounded, flushing is done on the bits.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "vm/isa/form.h"

namespace ridge::vm {

enum class Round : uint32_t { rn, rz, rm, rp };

inline Round round_of(const Form& form) {
  return Round(form.index_of({"rn", "rz", "rm", "rp"}, 0));
}

// The NaN the hardware makes of any NaN, whatever its payload. f64 keeps payloads; its own NaN is
// x86's.
inline constexpr uint32_t kNan32 = 0x7fffffffu;
inline constexpr uint64_t kNan64 = 0xfff8000000000000ull;
inline constexpr uint64_t kQuiet64 = 0x0008000000000000ull;

inline uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }
inline uint64_t bits_of(double x) { return std::bit_cast<uint64_t>(x); }
inline float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }
inline double double_of(uint64_t bits) { return std::bit_cast<double>(bits); }

inline float canonical(float x) { return x == x ? x : float_of(kNan32); }

// A subnormal becomes the zero of its sign.
inline float flush(float x) {
  const uint32_t bits = bits_of(x);
  return float_of((bits & 0x7fffffffu) > 0x007fffffu ? bits : bits & 0x80000000u);
}

// [0, 1]; NaN and -0 become +0.
template <class T>
inline T saturate(T x) {
  return x > T(0) ? (x < T(1) ? x : T(1)) : T(0);
}

// Rounds, and flushes if asked, what is computed between construction and destruction. PTX's .ftz
// is what x86 does with DAZ and FTZ set: subnormal operands count as zeros, and so do results that
// are tiny after rounding to 24 bits. The barriers keep the compiler from moving loads before and
// stores after, and with them the arithmetic in between.
class ArithmeticScope {
 public:
  explicit ArithmeticScope(Round round, bool ftz = false) : saved_(_mm_getcsr()) {
    constexpr uint32_t kControl[] = {0x0000, 0x6000, 0x2000, 0x4000};  // rn, rz, rm, rp
    _mm_setcsr((saved_ & ~0x6000u) | kControl[uint32_t(round)] | (ftz ? 0x8040u : 0u));
    asm volatile("" ::: "memory");
  }
  ~ArithmeticScope() {
    asm volatile("" ::: "memory");
    _mm_setcsr(saved_);
  }
  ArithmeticScope(const ArithmeticScope&) = delete;
  ArithmeticScope& operator=(const ArithmeticScope&) = delete;

 private:
  uint32_t saved_;
};

// Modifiers of the wide handlers.
enum FloatFlags : uint32_t { kRoundMask = 3, kFtz = 4, kSat = 8 };
inline uint32_t float_flags(const Form& form) {
  return uint32_t(round_of(form)) | (form.has("ftz") ? kFtz : 0u) | (form.has("sat") ? kSat : 0u);
}

}  // namespace ridge::vm
