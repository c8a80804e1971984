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
};

// `at` has the addresses of 32 lanes; rows of 16 that use neighbouring words are done here. Returns
// how many of the first lanes are; what is done may be done again by the caller. It stops where a
// cell needs a closer look.
int read_whole_words(const WholeWords& words, const uint64_t* at);
int write_whole_words(const WholeWords& words, const uint64_t* at);

// One lane's vector of 4 or 8 words. False where a cell needs a closer look; what is done may be
// done again.
bool read_whole_vector(const WholeWords& words, uint64_t at, uint32_t count, int lane);
bool write_whole_vector(const WholeWords& words, uint64_t at, uint32_t count, int lane);

// The lanes, of 32, whose addresses are not below `first` nor above `last`; all are below 1 << 63.
uint32_t lanes_between(const uint64_t* at, uint64_t first, uint64_t last);

}  // namespace ridge::vm::check
