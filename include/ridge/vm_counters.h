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
// The same, heard by nobody else: neither profiles nor checks see these launches. 0: nothing
// begins, because more than one thread of the process has used the device.
int ridge_vm_model_begin_alone(void);
int ridge_vm_model_end(RidgeVmModelled* modelled);  // how many launches there were

// Fills device memory with a pattern of `period` bytes, over and over, without touching it: pages
// are made when somebody uses them. The device is idle. 0: nothing was done, because the period is
// no multiple of a page or the memory is short.
int ridge_vm_repeat(void* to, size_t bytes, const void* pattern, size_t period);

// For launchers above the driver whose arguments are arrays of the host, which kernels share
// without a copy. Kernels may use the array from now on; a second call gives it a new name.
// `unwritten`: words of it that are 0xFFA5C3D2 have no value yet. 0: it overlaps memory of the
// device; 2: it is a part of an array that is open already.
int ridge_vm_open_array(uint64_t base, uint64_t bytes, const char* name, uint32_t unwritten);
void ridge_vm_close_array(uint64_t base);
// What the calling thread's next launch is called, and the tensors behind its arguments, for
// reports, profiles and the check of their bounds.
struct RidgeVmTensor {
  uint32_t param;  // of the kernel: which points to it
  uint64_t address, bytes;
  const char* name;
};
void ridge_vm_next_launch(const char* title, const RidgeVmTensor* tensors, uint32_t count);
// Waits until the device is idle; the program has not waited, as far as checks are concerned.
// Returns the device's error.
int ridge_vm_drain(void);

// For libraries above the runtime: reports a call that failed as the runtime does with its own
// (docs/findings.md), with the line of the program that called the library. `kind` is "failed-call"
// or "unsupported", `message` one sentence without its full stop; `fix` may be empty.
void ridge_vm_tell(const char* kind, const char* message, const char* fix);

}  // extern "C"
