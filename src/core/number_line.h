// Bit patterns as points on the line of numbers: what kind of number one is, and its neighbours.
#pragma once

#include <cstdint>
#include <optional>

#include "ridge/dtype.h"

namespace ridge {

enum class NumberClass : uint8_t { zero, subnormal, normal, infinite, nan };

const char* to_string(NumberClass c);
NumberClass class_of(Dtype dtype, uint64_t bits);  // integers and nf4: zero or normal

// The three fields of a floating pattern. Other formats have everything in the mantissa.
struct Fields {
  uint64_t sign, exponent, mantissa;
  int sign_bits, exponent_bits, mantissa_bits;  // those in front that mean nothing are left out
};
Fields fields_of(Dtype dtype, uint64_t bits);

// The pattern of the next larger or smaller number, infinities included. Between the two zeros is
// no step, so the next above -0 is the smallest positive number. None for NaN and at the ends.
std::optional<uint64_t> next_above(Dtype dtype, uint64_t bits);
std::optional<uint64_t> next_below(Dtype dtype, uint64_t bits);

}  // namespace ridge
