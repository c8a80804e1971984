// Input values: every combination of edge values where there is room, then seeded random ones. The
// same on every machine; a change here makes recorded results worthless, hence the version.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "vm/parse/types.h"

namespace ridge::golden {

inline constexpr int kInputsVersion = 1;

struct InputSet {
  int threads = 0;
  std::vector<uint64_t> words;  // (inputs, threads)
};

// How many threads a register-to-register case with these inputs gets: a multiple of the block
// size.
int thread_count(const std::vector<vm::Type>& types);

InputSet make_inputs(const std::vector<vm::Type>& types, int threads);

// fns takes a lane number for its second operand; anything else is undefined.
void restrict_inputs(std::string_view spelling, InputSet& set);

}  // namespace ridge::golden
