// What ptxas says of a kernel: how many registers a thread has, which decides how many blocks an SM
// holds. PTX does not tell it. Asked where RIDGE_PTXAS names the program; without it the software
// GPU has an estimate of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/gpu_spec.h"
#include "vm/parse/module.h"

namespace ridge::vm {

struct PtxasUsage {
  uint32_t registers = 0;
  uint32_t spilled = 0;  // bytes of registers that went to local memory
};
// Takes a tenth of a second the first time; the folder in RIDGE_PTXAS_CACHE keeps the answers.
std::optional<PtxasUsage> ask_ptxas(const Module& module, const Function& entry,
                                    const GpuSpec& gpu);

// sm_90 for PTX of any older kind; its own where it is for one architecture only (sm_90a).
std::string ptxas_architecture(const Module& module, const GpuSpec& gpu);
// The module without its other kernels and without line information: ptxas is done sooner.
std::string with_one_kernel(std::string_view ptx, std::string_view kernel);

}  // namespace ridge::vm
