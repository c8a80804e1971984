// Numbers of any dtype, one at a time, as doubles: for references and comparisons on the host.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ridge/dtype.h"

namespace ridge {

double load(Dtype dtype, const void* base, int64_t index);
// Rounds to nearest even, to infinity past the largest number; integers are cut off.
void store(Dtype dtype, void* base, int64_t index, double value);
double rounded(Dtype dtype, double value);  // as stored

// Distance from 1 to the next number, halved: the relative error of rounding once. 0 for integers.
double unit_roundoff(Dtype dtype);
double smallest(Dtype dtype);  // the least positive number, subnormal; 0 for integers

std::optional<Dtype> parse_dtype(std::string_view name);

}  // namespace ridge
