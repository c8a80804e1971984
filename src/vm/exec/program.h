// Loading modules and preparing kernels; see program.cpp.
#pragma once

#include "vm/exec/code.h"

namespace ridge::vm {

Status place_variables(Program& program, Allocations& memory);
KernelInfo describe(const Module& module, const Function& function, const GpuSpec& gpu);
Expected<std::unique_ptr<KernelCode>> decode_kernel(Program& program, Function& entry);

}  // namespace ridge::vm
