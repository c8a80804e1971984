// Floating-point helpers of the instruction groups: bits, flushing, saturation and directed rounding.
//
// Handlers run with the CPU's default environment (round to nearest, no flushing). PTX's other rounding modes set MXCSR
// around the lane loop; flushing is done on bits, because PTX decides it per instruction and x86 per thread.
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

// The NaN the hardware makes of any NaN, whatever its payload.
inline constexpr uint32_t kNan32 = 0x7fffffffu;

inline uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }
inline uint64_t bits_of(double x) { return std::bit_cast<uint64_t>(x); }
inline float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }
inline double double_of(uint64_t bits) { return std::bit_cast<double>(bits); }

inline float canonical(float x) { return x == x ? x : float_of(kNan32); }
inline double canonical(double x) { return x; }

// A subnormal becomes the zero of its sign.
inline float flush(float x) {
  const uint32_t bits = bits_of(x);
  return float_of((bits & 0x7fffffffu) > 0x007fffffu ? bits : bits & 0x80000000u);
}
inline double flush(double x) { return x; }  // PTX flushes single precision only

// [0, 1]; NaN and -0 become +0.
template <class T>
inline T saturate(T x) {
  return x > T(0) ? (x < T(1) ? x : T(1)) : T(0);
}

// Rounds arithmetic between construction and destruction. The barriers keep the compiler from moving the loads before
// and the stores after, and with them the arithmetic in between.
class RoundingScope {
 public:
  explicit RoundingScope(Round round) : saved_(_mm_getcsr()) {
    constexpr uint32_t kControl[] = {0x0000, 0x6000, 0x2000, 0x4000};  // rn, rz, rm, rp
    _mm_setcsr((saved_ & ~0x6000u) | kControl[uint32_t(round)]);
    asm volatile("" ::: "memory");
  }
  ~RoundingScope() {
    asm volatile("" ::: "memory");
    _mm_setcsr(saved_);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  uint32_t saved_;
};

// Modifiers of the wide handlers.
enum FloatFlags : uint32_t { kRoundMask = 3, kFtz = 4, kSat = 8 };
inline uint32_t float_flags(const Form& form) {
  return uint32_t(round_of(form)) | (form.has("ftz") ? kFtz : 0u) | (form.has("sat") ? kSat : 0u);
}

}  // namespace ridge::vm
