// What a warp's addresses look like: strides, wasted sectors, bank conflicts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/model.h"
#include "vm/observe/access.h"

namespace ridge::tools::profile {

// The addresses at which the lanes' runs without a hole begin, in the order of the lanes.
std::vector<uint64_t> run_starts(const Access& access);
std::vector<uint32_t> lanes_of(uint32_t mask);
std::string lanes_text(const std::vector<uint32_t>& lanes);  // "0, 2 … 30"

// --- global memory
uint64_t sectors_of(const Access& access);
uint64_t least_sectors(const Access& access);      // for as many different bytes, side by side
uint64_t cache_lines_of(const Access& access);     // of 128 bytes
uint64_t atomic_sectors_of(const Access& access);  // with the turns that equal addresses take
uint64_t bytes_used(const Access& access);
Access once_a_place(const Access& access);     // of lanes with one address, the first only
uint32_t lanes_a_place(const Access& access);  // most lanes with one address

// The distance between neighbouring lanes that most of them have.
struct Stride {
  int64_t bytes = 0;
  bool everywhere = false;
};
std::optional<Stride> stride_of(const Access& access);  // none: all over the place

// --- shared memory
uint64_t shared_wavefronts_of(const Access& access, vm::observe::Service service);
uint64_t wavefronts_of(const Access& access);  // of a load
uint64_t least_wavefronts(const Access& access);

struct Conflict {
  uint32_t bank = 0;
  uint32_t ways = 1;            // different words that the bank has to give
  std::vector<uint32_t> lanes;  // that want them
};
Conflict worst_conflict(const Access& access);

}  // namespace ridge::tools::profile
