// The one device of the process and what stands around it. Made on first use and never destroyed:
// kernels and host threads may still use it while the process exits.
#pragma once

#include "vm/cudart/modules.h"
#include "vm/cudart/scheduler.h"
#include "vm/exec/engine.h"

namespace ridge::vm::cudart {

struct Runtime {
  Engine engine;
  Scheduler scheduler;

  Runtime();
  const GpuSpec& gpu() const { return engine.gpu(); }
};

Runtime& runtime();
// What the program registered before main; there before the device is, because registering must not
// start it.
Modules& registrations();
bool runtime_started();

// The end of a synchronising call: device printf appears, and a fault met on the way is the answer.
cudaError_t synchronised();

// Records a fault of a kernel: the report once on stderr, and the sticky error.
void record_fault(const Fault& fault);

}  // namespace ridge::vm::cudart
