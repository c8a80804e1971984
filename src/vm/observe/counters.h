// The counters of counters.def: as a structure, and as a list to loop over.
#pragma once

#include <cstdint>

namespace ridge::vm::observe {

struct Counters {
#define RIDGE_COUNTER(name, ...) uint64_t name = 0;
#include "vm/observe/counters.def"
#undef RIDGE_COUNTER

  Counters& operator+=(const Counters& other) {
#define RIDGE_COUNTER(name, ...) name += other.name;
#include "vm/observe/counters.def"
#undef RIDGE_COUNTER
    return *this;
  }
  double active_lanes() const { return warps ? double(threads) / double(warps) : 0; }
};

struct Counter {
  enum class Shown : uint8_t { nowhere, page, everywhere };
  const char* name;
  uint64_t Counters::*field;
  const char* label;
  Shown shown;
  const char* column;  // nullptr: the CSV has no column of its total
  const char* meaning;
};

inline constexpr Counter kCounters[] = {
#define RIDGE_COUNTER(name, label, shown, column, meaning) \
  {#name, &Counters::name, label, Counter::Shown::shown, column, meaning},
#include "vm/observe/counters.def"
#undef RIDGE_COUNTER
};

}  // namespace ridge::vm::observe
