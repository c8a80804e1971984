// What the family's operators do, by their place in operators.cpp.
#pragma once

namespace ridge::segmented_scan {

enum { kInclusive, kExclusive, kInclusiveByKey, kExclusiveByKey };

constexpr bool is_inclusive(int op) { return op == kInclusive || op == kInclusiveByKey; }
constexpr bool is_by_key(int op) { return op >= kInclusiveByKey; }

}  // namespace ridge::segmented_scan
