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
// What the program registered before main. It exists before the device does, because registering
// must not start the device.
Modules& registrations();
bool runtime_started();

// The end of a synchronising call: the output of device printf appears, and a fault that happened
// is the result.
cudaError_t synchronised();

// Records a fault of a kernel: the report once on stderr, and the sticky error.
void record_fault(const Fault& fault);

}  // namespace ridge::vm::cudart
