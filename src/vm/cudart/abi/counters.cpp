#include "ridge/vm_counters.h"
#include "vm/cudart/runtime.h"

using namespace ridge::vm::cudart;

extern "C" {

__attribute__((visibility("default"))) void ridge_vm_set_counting(int on) {
  runtime().engine.set_counting(on != 0);
}

__attribute__((visibility("default"))) void ridge_vm_counts(RidgeVmCounts* counts) {
  const auto counted = runtime().engine.counts();
  *counts = {counted.warp_instructions, counted.thread_instructions};
}

}  // extern "C"
