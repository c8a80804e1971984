// Address windows that no host allocation uses: generic addresses of shared, local and parameter
// memory, and the addresses of functions. They begin 1 << 32 apart.
#pragma once

#include <cstdint>

namespace ridge::vm {

inline constexpr uint64_t kSharedWindow = 0x200000000000ull;
inline constexpr uint64_t kLocalWindow = 0x200100000000ull;
inline constexpr uint64_t kParamWindow = 0x200200000000ull;
inline constexpr uint64_t kWindowSize = 0x1000000ull;  // 16 MiB each

// A function's address is a number that no memory has. Only an indirect call understands it.
inline constexpr uint64_t kFunctionWindow = 0x200400000000ull;

}  // namespace ridge::vm
