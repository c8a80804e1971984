// What the software GPU tells beyond the CUDA runtime. Programs look these up with dlsym: on a GPU
// they are not there.
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
