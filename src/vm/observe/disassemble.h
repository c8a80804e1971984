// A kernel's machine code, where the toolkit is at hand that makes it and takes it apart.
#pragma once

#include <optional>
#include <string>

#include "core/gpu_spec.h"
#include "vm/exec/code.h"
#include "vm/observe/disassembly.h"

namespace ridge::vm::observe {

struct Disassembled {
  std::optional<Disassembly> code;
  std::string why_not;     // where it was wanted
  std::string ptxas_said;  // a file with what ptxas said of registers and spills
};

// Wanted where RIDGE_PROFILE_NVDISASM and RIDGE_PROFILE_PTXAS name those programs and
// RIDGE_PROFILE_PTX a folder to work in.
Disassembled disassemble(const KernelCode& kernel, const GpuSpec& gpu);

}  // namespace ridge::vm::observe
