// sort_keys, sort_pairs: keys of 32 bits in rising or falling order, alone or each with a value.
// Equal keys keep their order.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::radix_sort {

enum { kKeys, kPairs };  // the operators, in their order

struct Args {
  const uint32_t* keys = nullptr;    // (n), the bits of `dtype`
  const uint32_t* values = nullptr;  // (n), of pairs
  uint32_t* sorted_keys = nullptr;   // (n)
  uint32_t* sorted_values = nullptr;
  int64_t n = 0;
  bool descending = false;
  Dtype dtype = Dtype::u32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr bool has_values(const Args& a) { return a.values != nullptr; }
// Of one pass over all keys, in and out.
constexpr double pass_bytes(const Args& a) { return double(a.n) * (has_values(a) ? 16.0 : 8.0); }

}  // namespace ridge::radix_sort
