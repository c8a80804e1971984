// Functions that the software GPU has beyond those of the CUDA runtime. Programs look them up with
// dlsym, because they do not exist on a GPU.
#pragma once

#include <cstdint>

extern "C" {

// What has run since the process started, as far as counting was on.
struct RidgeVmCounts {
  uint64_t warp_instructions, thread_instructions;
};

void ridge_vm_set_counting(int on);  // for the launches from here on
void ridge_vm_counts(RidgeVmCounts* counts);

}  // extern "C"
