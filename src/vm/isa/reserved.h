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
    {"wgmma", "Hopper's tensor cores"},
    {"cp.async.bulk", "bulk and tensor copies"},
    {"cp.reduce", "bulk and tensor copies"},
    {"st.async", "thread block clusters"},
    {"red.async", "thread block clusters"},
    {"multimem", "multicast memory"},
    {"mapa", "thread block clusters"},
    {"getctarank", "thread block clusters"},
    {"tensormap", "tensor copies"},
};

}  // namespace ridge::vm
