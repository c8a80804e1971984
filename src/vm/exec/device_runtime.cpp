#include "vm/exec/device_runtime.h"

#include <algorithm>
#include <string>

#include "vm/exec/conditions.h"
#include "vm/exec/grid.h"

namespace ridge::vm {
namespace {

std::string device_string(const Warp& w, uint64_t address) {
  const auto allocation = w.worker->memory->find(address);
  if (!allocation) return "?";
  const auto* text = reinterpret_cast<const char*>(w.worker->memory->place(address));
  return std::string(text, strnlen(text, size_t(allocation->end() - address)));
}

const Inst* print(Warp& w, const Inst* inst, const CallSite& site) {
  each_active(w.mask, [&](int i) {
    device_printf(w, uint32_t(i), call_argument<uint64_t>(w, site, 0, i),
                  call_argument<uint64_t>(w, site, 1, i));
    set_call_result<int32_t>(w, site, i, 1);
  });
  return inst + 1;
}

const Inst* assert_fail(Warp& w, const Inst* inst, const CallSite& site) {
  const int lane = __builtin_ctz(w.mask);
  const auto text = [&](size_t k) {
    return device_string(w, call_argument<uint64_t>(w, site, k, lane));
  };
  const std::string what = text(1) + ":" +
                           std::to_string(call_argument<uint32_t>(w, site, 2, lane)) + ": " +
                           text(3) + ": assertion `" + text(0) + "' failed";
  return raise(w, inst, FaultKind::assert_failed, uint32_t(lane), 0, 0, what.c_str());
}

// A null pointer when the heap is full, as on hardware: programs check.
const Inst* allocate(Warp& w, const Inst* inst, const CallSite& site) {
  each_active(w.mask, [&](int i) {
    const auto memory = w.worker->engine->heap_allocate(call_argument<uint64_t>(w, site, 0, i));
    set_call_result<uint64_t>(w, site, i, memory.value_or(0));
  });
  return inst + 1;
}

const Inst* release(Warp& w, const Inst* inst, const CallSite& site) {
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint64_t address = call_argument<uint64_t>(w, site, 0, i);
    if (address && !w.worker->engine->heap_release(address))
      return raise(w, inst, FaultKind::illegal_address, uint32_t(i), address, 1,
                   "free of a pointer not from malloc");
  }
  w.worker->ranges.fill(CheckedRange{});
  return inst + 1;
}

const Inst* set_conditional(Warp& w, const Inst* inst, const CallSite& site) {
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint64_t handle = call_argument<uint64_t>(w, site, 0, i);
    const ConditionRef condition = find_condition(handle);
    if (!condition)
      return raise(w, inst, FaultKind::trap, uint32_t(i), handle, 0,
                   "cudaGraphSetConditional of a handle that does not exist, or no more");
    condition->value.store(call_argument<uint32_t>(w, site, 1, i), std::memory_order_release);
  }
  return inst + 1;
}

constexpr DeviceFunctionDef kFunctions[] = {
    {"vprintf", print},
    {"__assertfail", assert_fail},
    {"malloc", allocate},
    {"free", release},
    {"cudaGraphSetConditional", set_conditional},
};

}  // namespace

DeviceFunction find_device_function(std::string_view name) {
  for (const auto& table :
       {std::span<const DeviceFunctionDef>(kFunctions), dynamic_parallelism_functions()})
    for (const DeviceFunctionDef& def : table)
      if (def.name == name) return def.run;
  return nullptr;
}

bool write_generic(Warp& w, int lane, uint64_t address, const void* bytes, uint32_t size) {
  const auto* from = static_cast<const uint8_t*>(bytes);
  if (const uint64_t at = address - kLocalWindow; at < kWindowSize) {
    if (at + size > w.local_size) return false;
    for (uint32_t k = 0; k < size; ++k) *local_byte(w, uint32_t(at) + k, lane) = from[k];
    return true;
  }
  if (const uint64_t at = address - kSharedWindow; at < kSharedWindowSize) {
    if (wrong_shared(w, uint32_t(at), size)) return false;
    std::memcpy(shared_place(w, uint32_t(at)), from, size);
    return true;
  }
  const auto home = w.worker->memory->find(address);
  if (!home || address + size > home->end()) return false;
  std::memcpy(w.worker->memory->place(address), from, size);
  return true;
}

}  // namespace ridge::vm
