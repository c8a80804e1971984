// Numbers of any dtype, one at a time, as doubles: for references and comparisons on the host.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/conversion.h"
#include "ridge/dtype.h"

namespace ridge {

// Between a number and its bits, which are the lowest bits_of(dtype) of the word.
//   floating: NaN becomes the NaN with all exponent and mantissa bits set and no sign, as cvt makes
//     it; where there is none, the largest number. Formats without a sign take the magnitude.
//   i8, i4, u4: to the nearest even integer, saturating; NaN becomes 0.
//   other integers: cut off towards zero, then to their lowest bits; NaN becomes 0.
//   nf4: the nearest of its 16 values, the lower one halfway between two; NaN becomes -1.
// `how` concerns the floating formats only.
uint64_t encode(Dtype dtype, double value, Conversion how = {});
double decode(Dtype dtype, uint64_t bits);

// Element `index` of a packed array. Stores of elements that share a byte must not run at once.
uint64_t load_bits(Dtype dtype, const void* base, int64_t index);
void store_bits(Dtype dtype, void* base, int64_t index, uint64_t bits);

double load(Dtype dtype, const void* base, int64_t index);
void store(Dtype dtype, void* base, int64_t index, double value, Conversion how = {});
double rounded(Dtype dtype, double value, Conversion how = {});  // as stored

// Distance from 1 to the next number, halved: the relative error of rounding once. 0 for integers.
// nf4 has values in [-1, 1] at uneven distances: half the widest one, an absolute error.
double unit_roundoff(Dtype dtype);
double largest(Dtype dtype);          // the largest number that is finite
double smallest(Dtype dtype);         // the least positive number, subnormal; 0 for integers
double smallest_normal(Dtype dtype);  // the least with full precision; 0 for integers and nf4

// By the name that name_of gives, or one of the names that others use (float, half, e4m3fn ...).
std::optional<Dtype> parse_dtype(std::string_view name);

}  // namespace ridge
