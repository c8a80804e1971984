// Instructions whose rows are still to come, by the first words of their spelling: named here so
// that a program which needs one is told so in plain words.
#pragma once

#include <string_view>

namespace ridge::vm {

struct Reserved {
  std::string_view prefix;
  std::string_view what;
};
inline constexpr Reserved kReserved[] = {
    {"cp.async.bulk", "bulk and tensor copies"},
    {"cp.reduce", "bulk and tensor copies"},
    {"multimem", "multicast memory"},
};

}  // namespace ridge::vm
