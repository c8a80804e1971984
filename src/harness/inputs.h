// Seeded inputs: the same case always gets the same numbers.
#pragma once

#include <vector>

#include "ladder/ladder.h"

namespace ridge::harness {

// Inputs filled and rounded to their dtype; outputs sized.
std::vector<HostTensor> make_inputs(const Ladder& ladder, const Case& c, const Workload& workload);

// The first `elements` of an input as it lies in memory, without specials: what timings run on.
std::vector<char> input_bytes(const Ladder& ladder, const Case& c, const Workload& workload,
                              size_t tensor, int64_t elements);

}  // namespace ridge::harness
