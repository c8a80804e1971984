// Instructions whose rows are still to come, or never will, by the first words of their spelling
// and perhaps a modifier: named here so that a program which needs one is told so in plain words.
// The last one that fits counts.
#pragma once

#include <string_view>

namespace ridge::vm {

struct Reserved {
  std::string_view prefix;
  std::string_view what;
  std::string_view modifier = {};  // with its dot
  bool never = false;              // `what` says why, and what to do
};
inline constexpr Reserved kReserved[] = {
    {"cp.async.bulk", "bulk and tensor copies"},
    {"cp.reduce", "bulk and tensor copies"},
    {"multimem",
     "it works on the memory of several GPUs at once, and this is one GPU; use ld, st and red on "
     "each GPU's own memory",
     {},
     true},
    {"cp.async.bulk.tensor", "tensor copies to several blocks of a cluster", ".multicast::cluster"},
};

}  // namespace ridge::vm
