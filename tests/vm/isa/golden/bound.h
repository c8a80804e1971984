// Which spellings are approximate, and how far a result may lie from another correct one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vm/parse/types.h"

namespace ridge::golden {

// The error PTX states: |result - exact| <= relative * |exact|, or <= absolute.
struct Bound {
  double relative = 0, absolute = 0;
  std::string_view text;  // "1 ulp"; empty: exact
  bool approximate() const { return !text.empty(); }
};
Bound bound_of(std::string_view spelling);

// Whether two results, each within its bound of the exact one, may differ like this. `input` is the
// first operand.
bool within(const Bound& bound, std::string_view spelling, vm::Type type, uint64_t input,
            uint64_t a, uint64_t b);

}  // namespace ridge::golden
