// Address windows that no host allocation uses: generic addresses of shared, local and parameter
// memory, and the addresses of functions. They begin 1 << 32 apart.
#pragma once

#include <cstdint>

namespace ridge::vm {

inline constexpr uint64_t kSharedWindow = 0x200000000000ull;
inline constexpr uint64_t kLocalWindow = 0x200100000000ull;
inline constexpr uint64_t kParamWindow = 0x200200000000ull;
inline constexpr uint64_t kWindowSize = 0x1000000ull;  // 16 MiB each

// Shared memory has one such window for each block of a cluster, by rank, as on an H200. A shared
// address is the block's rank << kRankShift and the offset in the block's shared memory.
inline constexpr uint32_t kRankShift = 24;
inline constexpr uint32_t kMostRanks = 16;
inline constexpr uint64_t kSharedWindowSize = kMostRanks << kRankShift;  // of all ranks

// A function's address is a number that no memory has. Only an indirect call understands it.
inline constexpr uint64_t kFunctionWindow = 0x200400000000ull;

}  // namespace ridge::vm
