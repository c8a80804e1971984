// Runs a contestant on a case and compares its results with the float64 truth.
#pragma once

#include <string>

#include "harness/contestant.h"
#include "harness/prepare.h"

namespace ridge::harness {

// Where a contestant wants a tensor of its case.
Memory memory_of(const TensorSpec& spec, bool pageable);

Verification verify(const Prepared& prepared, const Contestant& contestant);

std::string case_text(const Case& c);  // "softmax f16 31x33 misaligned by 1"

}  // namespace ridge::harness
