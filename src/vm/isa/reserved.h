// Instructions whose rows are still to come: named here so that a program which needs one is told
// so in plain words.
#pragma once

#include <string_view>

namespace ridge::vm {

struct Reserved {
  std::string_view root;
  std::string_view what;
};
inline constexpr Reserved kReserved[] = {
    {"wgmma", "Hopper's tensor cores"},
    {"cp", "asynchronous copies"},
    {"mbarrier", "asynchronous barriers"},
    {"multimem", "multicast memory"},
    {"mapa", "thread block clusters"},
    {"getctarank", "thread block clusters"},
    {"setmaxnreg", "register reallocation"},
    {"createpolicy", "cache policies"},
    {"tensormap", "tensor copies"},
    {"alloca", "stack allocation"},
};

}  // namespace ridge::vm
