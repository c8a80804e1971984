// What is tested and timed of gemm_fused and gemm_swiglu.
#pragma once

#include "ladder/case.h"

namespace ridge::gemm {

std::vector<Case> fused_tests();
std::vector<Case> fused_timings();

}  // namespace ridge::gemm
