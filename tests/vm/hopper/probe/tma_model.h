// What an H200's copy engine makes of one TMA instruction, byte by byte: written for reading.
#pragma once

#include <optional>

#include "tma_case.h"

namespace ridge::hopper {

// Shared memory after a load, the global window after a store or a reduction.
std::vector<uint8_t> tma_result(const TmaCase& c);
// Bytes that a load reports to its mbarrier.
uint32_t tma_bytes(const TmaCase& c);

// One element of a reduction: `op` as in kReduceNames, on numbers of a CUtensorMapDataType.
uint64_t tma_combined(int type, const std::string& op, uint64_t old, uint64_t value);

}  // namespace ridge::hopper
