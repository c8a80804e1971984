// How a number becomes one of a narrower format. For host and device code alike.
#pragma once

#include <cstdint>

namespace ridge {

enum class Rounding : std::uint8_t {
  nearest_even,  // a tie goes to the pattern with a 0 at its end; in ue8m0 to the larger number
  toward_zero,   // cvt.rz
  up,            // cvt.rp: to the next larger number; in formats without a sign, of the magnitude
};
// What becomes of numbers that round to more than the largest.
enum class Overflow : std::uint8_t {
  by_format,    // saturate in quantised formats, to_infinity in the others
  saturate,     // the largest number of the same sign, also for infinities (cvt.satfinite)
  to_infinity,  // infinity; NaN in formats with NaN alone; saturate in formats with neither
};
struct Conversion {
  Rounding rounding = Rounding::nearest_even;
  Overflow overflow = Overflow::by_format;
};

}  // namespace ridge
