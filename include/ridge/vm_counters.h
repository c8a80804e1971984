// Functions that the software GPU has beyond those of the CUDA runtime. Programs look them up with
// dlsym, because they do not exist on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// What has run since the process started, as far as counting was on.
struct RidgeVmCounts {
  uint64_t warp_instructions, thread_instructions;
};

void ridge_vm_set_counting(int on);  // for the launches from here on
void ridge_vm_counts(RidgeVmCounts* counts);

// How long the work between `begin` and `end` takes by the model of time (docs/model.md). The
// device is idle at both. Kernels run only as far as the model needs it: their results are not
// there.
struct RidgeVmModelled {
  double us, low_us, high_us;  // between two events, with a cold L2
  double graph_us;             // as one of many such works in a graph
  char bound[16];              // "memory", "l2", …; of the longest launch, or "link"
  char why[240];               // a few words on it
};
void ridge_vm_model_begin(void);
// The same, heard by nobody else: neither profiles nor checks see these launches. 0: nothing begins,
// because more than one thread of the process has used the device.
int ridge_vm_model_begin_alone(void);
int ridge_vm_model_end(RidgeVmModelled* modelled);  // how many launches there were

// Fills device memory with a pattern of `period` bytes, over and over, without touching it: pages
// are made when somebody uses them. The device is idle. 0: nothing was done, because the period is
// no multiple of a page or the memory is short.
int ridge_vm_repeat(void* to, size_t bytes, const void* pattern, size_t period);

// For libraries above the runtime: reports a call that failed as the runtime does with its own
// (docs/findings.md), with the line of the program that called the library. `kind` is "failed-call"
// or "unsupported", `message` one sentence without its full stop; `fix` may be empty.
void ridge_vm_tell(const char* kind, const char* message, const char* fix);

}  // extern "C"
