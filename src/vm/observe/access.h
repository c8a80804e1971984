// What one memory instruction of a warp costs the hardware, from its addresses alone.
//
// Global memory moves in sectors of 32 bytes, found through lines of 128. Shared memory has 32
// banks of 4-byte words: a wavefront serves one word of each bank, to any number of lanes.
#pragma once

#include <array>
#include <cstdint>

namespace ridge::vm::observe {

inline constexpr uint32_t kSectorBytes = 32, kLineBytes = 128, kBanks = 32;

// `bytes` from each address of the lanes in `mask`: 1, 2, 4, 8 or 16; each address is a multiple of
// it.
template <class T>
struct AccessOf {
  std::array<T, 32> address;
  uint32_t mask = 0;
  uint32_t bytes = 4;
};
using Access = AccessOf<uint64_t>;
using SharedAccess = AccessOf<uint32_t>;

struct GlobalCost {
  uint32_t sectors = 0, lines = 0;
  uint32_t bytes_used = 0;  // different bytes that some lane asked for
};
GlobalCost global_cost(const Access& access);

// Reductions and atomics on global memory: lanes with one address take turns, and every turn moves
// its sectors.
uint32_t atomic_sectors(const Access& access);

// How shared memory serves an access. Loads of one word by several lanes are one; two parts of a
// wide load may be served together, of a store never. Of an atomic each lane has its turn, but for
// the addition of one, which counts the lanes of a word; a compare-and-swap takes every turn twice.
// In a loop around one, lanes that cannot have their turn fail at once.
enum class Service : uint8_t { load, store, atomic, counting, compare, spin };

struct SharedCost {
  uint32_t wavefronts = 0;
  uint32_t conflicts = 0;  // wavefronts beyond one for each part that is served by itself
  uint32_t by_line = 0;    // wavefronts as Nsight Compute computes them for a source line
  uint32_t ideal = 0;      // what would do for as many bytes
};
// Wide accesses are served in parts of the warp: 8 bytes by half warps, 16 bytes by quarters.
SharedCost shared_cost(const SharedAccess& access, Service service);

}  // namespace ridge::vm::observe
