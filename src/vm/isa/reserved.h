// Instructions whose rows are still to come, or never will, by the first words of their spelling:
// named here so that a program which needs one is told so in plain words.
#pragma once

#include <string_view>

namespace ridge::vm {

struct Reserved {
  std::string_view prefix;
  std::string_view what;
  bool never = false;  // `what` says why, and what to do
};
inline constexpr Reserved kReserved[] = {
    {"cp.async.bulk", "bulk and tensor copies"},
    {"cp.reduce", "bulk and tensor copies"},
    {"multimem",
     "it works on the memory of several GPUs at once, and this is one GPU; use ld, st and red on "
     "each GPU's own memory",
     true},
};

}  // namespace ridge::vm
