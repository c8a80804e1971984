// Functions that programs call without defining them, because the device provides them: printf,
// malloc, and the device side of the CUDA runtime that comes with -lcudadevrt.
#pragma once

#include <cstring>
#include <span>
#include <string_view>

#include "vm/decode/code.h"
#include "vm/exec/warp.h"
#include "vm/isa/memory.h"

namespace ridge::vm {

// Arguments and results are .param variables of the caller: they lie in its local frame.
template <class T>
T call_argument(const Warp& w, const CallSite& site, size_t k, int lane) {
  T value{};
  if (k < site.arguments.size())
    local_read<sizeof(T)>(w, w.frame->local_base + site.arguments[k], lane, &value);
  return value;
}
template <class T>
void set_call_result(Warp& w, const CallSite& site, int lane, T value) {
  if (!site.results.empty())
    local_write<sizeof(T)>(w, w.frame->local_base + site.results[0], lane, &value);
}

struct DeviceFunctionDef {
  std::string_view name;
  DeviceFunction run;
};
// Child grids, and what else cudadevrt has (dynamic_parallelism.cpp).
std::span<const DeviceFunctionDef> dynamic_parallelism_functions();

// The lane's bytes at a generic address; false when it cannot be written.
bool write_generic(Warp& w, int lane, uint64_t address, const void* bytes, uint32_t size);

}  // namespace ridge::vm
