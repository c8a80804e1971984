// From a Reduction to the operator it stands for, for the functions that take one (ridge/reduce.h).
#pragma once

#include <iterator>
#include <string>

#include "core/status.h"
#include "operator/check.h"
#include "ridge/reduce.h"

namespace ridge::ops {

// The part of the operator's name that says it: "sum" of "sum_axis". `function` is who asks.
inline Expected<std::string> name_of(Reduction reduction, const char* function) {
  constexpr const char* kNames[] = {"sum",     "max",    "min",     "mean",  // in their order
                                    "product", "argmax", "norm_l1", "norm_l2"};
  if (size_t(reduction) < std::size(kNames)) return std::string(kNames[size_t(reduction)]);
  return Error{kInvalid, std::string(function) + ": reduction " + std::to_string(int(reduction)) +
                             " is none"};
}

}  // namespace ridge::ops
