// Inputs made from a seed: the same on every machine, so that records need to hold results only.
//
// A stream is SplitMix64. An element takes two numbers from it, whatever its kind and mode, so the
// element at place i of a stream does not depend on what the others are.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

namespace ridge::hopper {

class Stream {
 public:
  explicit Stream(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

inline uint64_t hash_bytes(const void* data, size_t bytes, uint64_t hash = 0xcbf29ce484222325ull) {
  const auto* p = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 0x100000001b3ull;  // FNV-1a
  return hash;
}

enum class Kind : uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8, b1, f32, s32 };
inline const char* name_of(Kind k) {
  static const char* const kNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2",
                                       "s8",  "u8",   "b1",   "f32",  "s32"};
  return kNames[int(k)];
}
inline int bits_of(Kind k) {
  switch (k) {
    case Kind::f16:
    case Kind::bf16: return 16;
    case Kind::e4m3:
    case Kind::e5m2:
    case Kind::s8:
    case Kind::u8: return 8;
    case Kind::b1: return 1;
    default: return 32;
  }
}
inline bool is_integer(Kind k) {
  return k == Kind::s8 || k == Kind::u8 || k == Kind::b1 || k == Kind::s32;
}

struct Format {
  int exponent_bits, mantissa_bits;
  bool has_infinity;
};
inline Format format_of(Kind k) {
  switch (k) {
    case Kind::f16: return {5, 10, true};
    case Kind::bf16: return {8, 7, true};
    case Kind::e4m3: return {4, 3, false};
    case Kind::e5m2: return {5, 2, true};
    default: return {8, 23, true};  // tf32 is given with all bits of f32
  }
}

// x in a format, cut off towards zero; the largest finite value if x is too large.
inline uint32_t encode(Kind kind, double x) {
  const Format f = format_of(kind);
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint32_t sign = uint32_t(std::signbit(x)) << (f.exponent_bits + f.mantissa_bits);
  x = std::fabs(x);
  if (x == 0) return sign;
  int e;
  std::frexp(x, &e);
  e = e - 1 + bias;  // biased exponent
  if (e < 1) e = 1;
  auto significand = uint32_t(std::ldexp(x, f.mantissa_bits - (e - bias)));  // cut off
  uint32_t bits = significand >> f.mantissa_bits ? uint32_t(e) << f.mantissa_bits |
                                                       (significand & ((1u << f.mantissa_bits) - 1))
                                                 : significand;
  const uint32_t most = f.has_infinity ? (((1u << f.exponent_bits) - 1) << f.mantissa_bits) - 1
                                       : (((1u << f.exponent_bits) - 1) << f.mantissa_bits) +
                                             (1u << f.mantissa_bits) - 2;
  if (bits > most || e > (1 << f.exponent_bits) - 1) bits = most;
  return sign | bits;
}

// What the elements of one round look like.
enum Mode {
  kIntegers,  // A, B: -8 … 8; C: -1000 … 1000: every result is exact
  kUnit,      // uniform in [-1, 1)
  kNear,      // times 2^-4 … 2^4
  kFar,       // times 2^-12 … 2^12
  kZeros,     // a third are zero, the rest times 2^-1 … 2^1
  kAnyBits,   // any bits
  kNormal,    // a sum of twelve uniform numbers
  kCancel,    // 1 + a little, with random signs; C is larger
  kTiny,      // near the smallest numbers of the format
  kLonely,    // one in eight is not zero, times 2^-10 … 2^10
  kUnder,     // products near the smallest number of the result, most factors zero; C too
  kSpecials,  // uniform, but one in 64 is any bits with the largest exponent
  kModes
};
enum class Role { factor, addend };

inline uint32_t element(Kind kind, Role role, int mode, Stream& stream) {
  const uint64_t any = stream.next(), more = stream.next();
  const int bits = bits_of(kind);
  const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  if (is_integer(kind)) {
    if (kind == Kind::s32 && mode == kIntegers) return uint32_t(int32_t(any % 2001) - 1000);
    if (kind == Kind::s32 && mode == kFar)  // near the ends
      return (any & 1 ? 0x7fffffffu : 0x80000000u) + uint32_t(int32_t(more % 4001) - 2000);
    return uint32_t(any) & mask;
  }
  if (mode == kAnyBits) return uint32_t(any) & mask;
  const Format f = format_of(kind);
  double x = double(int64_t(more) >> 11) * 0x1p-52;  // [-1, 1)
  const auto scaled = [&](int range) {
    x = std::ldexp(x, int(any % uint64_t(2 * range + 1)) - range);
  };
  const bool addend = role == Role::addend;
  switch (mode) {
    case kIntegers: x = addend ? double(any % 2001) - 1000 : double(any % 17) - 8; break;
    case kNear: scaled(4); break;
    case kFar: scaled(12); break;
    case kZeros:
      scaled(1);
      if (any >> 32 & 1 && any >> 33 & 1) x = 0;
      break;
    case kNormal: {
      x = 0;
      for (int i = 0; i < 12; ++i) x += double((i < 6 ? any : more) >> (10 * (i % 6)) & 1023);
      x = x / 1023 - 6;
      if (addend) x *= 4;
      break;
    }
    case kCancel:
      x = (any & 1 ? 1 : -1) * (1 + std::fabs(x) * std::ldexp(1.0, -int(any >> 1 & 7)));
      if (addend) x *= std::ldexp(1.0, int(any >> 4 & 15) - 4);
      break;
    case kTiny: {
      const int least = 2 - (1 << (f.exponent_bits - 1));  // of normal numbers
      if (addend) x = std::ldexp(x, (kind == Kind::f32 ? -126 : least) + int(any & 7) - 2);
      else x = std::ldexp(x, (any & 8 ? least : least / 2) + int(any & 7) - 3);
      break;
    }
    case kLonely:
      scaled(10);
      if (!addend && any >> 32 & 7) x = 0;
      break;
    case kUnder:
      if (addend) {
        if (any & 1) x = any & 2 ? 0.0 : -0.0;
        else x = std::ldexp(x, (kind == Kind::f32 ? -148 : -23) + int(any >> 2 & 7));
      } else {
        const int middle = f.exponent_bits == 8 ? -75 : f.exponent_bits == 5 ? -12 : -6;
        x = any >> 32 & 3 ? 0 : std::ldexp(x, middle - 3 + int(any & 7));
      }
      break;
    case kSpecials:
      if ((any >> 32 & 63) == 0)
        return (uint32_t(any) & mask) | ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
      break;
    default: break;
  }
  return encode(kind, x);
}

// `bytes` of elements, packed one after the other.
inline void fill(uint8_t* to, size_t bytes, Kind kind, Role role, int mode, Stream& stream) {
  const int bits = bits_of(kind);
  for (size_t i = 0; i < bytes; i += 4) {
    uint32_t word = 0;
    if (bits == 1) word = uint32_t(stream.next());
    else
      for (int e = 0; e < 32; e += bits) word |= element(kind, role, mode, stream) << e;
    std::memcpy(to + i, &word, 4);
  }
}

}  // namespace ridge::hopper
