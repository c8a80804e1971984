// What a warp's addresses look like: strides, wasted sectors, bank conflicts, and the layout that
// would cure them, tried on the addresses themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/model.h"

namespace ridge::tools::profile {

std::vector<uint32_t> lanes_of(uint32_t mask);
std::string lanes_text(const std::vector<uint32_t>& lanes);  // "0, 2 … 30"

// --- global memory
uint64_t sectors_of(const Access& access);
uint64_t least_sectors(const Access& access);    // for as many different bytes, side by side
uint64_t aligned_sectors(const Access& access);  // the same pattern from better starts
uint64_t runs_of(const Access& access);          // pieces of memory without a hole
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
uint64_t wavefronts_of(const Access& access);
uint64_t least_wavefronts(const Access& access);

struct Conflict {
  uint32_t bank = 0;
  uint32_t ways = 1;            // different words that the bank has to give
  std::vector<uint32_t> lanes;  // that want them
};
Conflict worst_conflict(const Access& access);

// Put behind every row, in bytes.
struct Padding {
  uint64_t row = 0, more = 0;
};
Access padded(const Access& access, const Padding& padding);
// The smallest that takes away the conflict and makes none of the others costlier.
std::optional<Padding> padding_for(const Access& access, const std::vector<Access>& others);

}  // namespace ridge::tools::profile
