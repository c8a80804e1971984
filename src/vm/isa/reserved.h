// Instructions whose rows are still to come, by the first words of their spelling and perhaps a
// modifier: named here so that a program which needs one is told so in plain words. The last one
// that fits counts.
#pragma once

#include <string_view>

namespace ridge::vm {

struct Reserved {
  std::string_view prefix;
  std::string_view what;
  std::string_view modifier = {};  // with its dot
};
inline constexpr Reserved kReserved[] = {
    {"cp.async.bulk", "bulk and tensor copies"},
    {"cp.reduce", "bulk and tensor copies"},
    {"multimem", "multicast memory"},
    {"cp.async.bulk.tensor", "tensor copies to several blocks of a cluster", ".multicast::cluster"},
};

}  // namespace ridge::vm
