// Whole words of shared memory that all lanes of a warp read or write: most of what a checked
// kernel does. Four cells at a time, on CPUs with AVX2.
#pragma once

#include <cstdint>

#include "vm/check/record.h"

namespace ridge::vm::check {

struct WholeWords {
  Cell* cells;      // of the block's shared memory
  uint64_t size;    // bytes of it
  uint32_t first;   // segment: what is older is not of this block
  uint32_t bound;   // segment: what is older is ordered by a barrier
  uint64_t record;  // lane 0's; the others' differ in the thread only
  uint32_t offset;  // of the instruction, to be added to its lanes' addresses
};

// One word for each of 32 lanes, at `at` plus the offset: two rows of 16 neighbouring words. False
// where they are something else, or a cell needs a closer look; what is done may be done again.
bool read_whole_words(const WholeWords& words, const uint32_t* at);
bool write_whole_words(const WholeWords& words, const uint32_t* at);

// One lane's vector of 4 or 8 words. False where a cell needs a closer look; what is done may be
// done again.
bool read_whole_vector(const WholeWords& words, uint64_t at, uint32_t count, int lane);
bool write_whole_vector(const WholeWords& words, uint64_t at, uint32_t count, int lane);

// The lanes, of 32, whose addresses are not below `first` nor above `last`; all are below 1 << 63.
uint32_t lanes_between(const uint64_t* at, uint64_t first, uint64_t last);

}  // namespace ridge::vm::check
