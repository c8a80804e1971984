// Loading modules and preparing kernels; see program.cpp.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/gpu_spec.h"
#include "vm/decode/code.h"
#include "vm/decode/kernel_info.h"
#include "vm/mem/allocations.h"

namespace ridge::vm {

struct Kernel;
// A loaded module and where its variables are.
struct Program {
  std::unique_ptr<Module> module;
  std::unordered_map<const Variable*, uint64_t> addresses;  // .global and .const
  std::unordered_map<const Function*, uint64_t> function_addresses;
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::mutex mutex;
  uint64_t id = 0;
  std::string machine_code;  // a cubin that came with it; kept for observers that look into it
};

struct Kernel {
  Program* program = nullptr;
  Function* function = nullptr;
  KernelInfo info;
  std::unique_ptr<KernelCode> code;
  KernelUsage usage;
  Error error{0, {}};  // why it cannot be decoded
  std::atomic<bool> decoded{false};
};

// An error, or an exception, leaves what was placed so far for release_variables.
Status place_variables(Program& program, Allocations& memory);
void release_variables(Program& program, Allocations& memory);
KernelInfo describe(const Module& module, const Function& function, const GpuSpec& gpu);
Expected<std::unique_ptr<KernelCode>> decode_kernel(Program& program, Function& entry,
                                                    const KernelInfo& info);

}  // namespace ridge::vm
