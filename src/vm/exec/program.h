// Loading modules and preparing kernels; see program.cpp.
#pragma once

#include "vm/exec/code.h"

namespace ridge::vm {

// An error, or an exception, leaves what was placed so far for release_variables.
Status place_variables(Program& program, Allocations& memory);
void release_variables(Program& program, Allocations& memory);
KernelInfo describe(const Module& module, const Function& function, const GpuSpec& gpu);
Expected<std::unique_ptr<KernelCode>> decode_kernel(Program& program, Function& entry);

}  // namespace ridge::vm
