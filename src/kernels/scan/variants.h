// What the family's operators do, by their place in operators.cpp.
#pragma once

#include "kernels/scan/scan.h"

namespace ridge::scan {

enum { kInclusive, kExclusive, kInclusiveMax, kExclusiveMax };

constexpr Combine combine_of(int op) { return op < kInclusiveMax ? Combine::sum : Combine::max; }
constexpr bool is_inclusive(int op) { return op == kInclusive || op == kInclusiveMax; }

}  // namespace ridge::scan
