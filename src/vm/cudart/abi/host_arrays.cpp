#include "vm/cudart/host_arrays.h"

#include "ridge/vm_counters.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/runtime.h"

using namespace ridge::vm;
using namespace ridge::vm::cudart;

extern "C" {

__attribute__((visibility("default"))) int ridge_vm_open_array(uint64_t base, uint64_t bytes,
                                                               const char* name,
                                                               uint32_t unwritten) {
  return int(open_array(base, bytes, name, unwritten != 0));
}

__attribute__((visibility("default"))) void ridge_vm_close_array(uint64_t base) {
  runtime().scheduler.settle();
  close_array(base);
}

__attribute__((visibility("default"))) void ridge_vm_next_launch(const char* title,
                                                                 const RidgeVmTensor* tensors,
                                                                 uint32_t count) {
  LaunchNotes notes{.title = title, .tensors = {}};
  for (uint32_t k = 0; k < count; ++k)
    notes.tensors.push_back(
        {tensors[k].param, tensors[k].address, tensors[k].bytes, tensors[k].name});
  note_next_launch(std::move(notes));
}

__attribute__((visibility("default"))) int ridge_vm_drain() {
  runtime().scheduler.drain();
  return int(sticky_error());
}

}  // extern "C"
