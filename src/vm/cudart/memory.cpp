#include "vm/cudart/memory.h"

#include <cstdio>
#include <initializer_list>
#include <string>

#include "core/text.h"
#include "vm/cudart/failed_call.h"
#include "vm/cudart/graph/memory.h"
#include "vm/cudart/leaks.h"
#include "vm/cudart/pools.h"
#include "vm/cudart/runtime.h"
#include "vm/exec/observer.h"

namespace ridge::vm::cudart {
namespace {

constexpr uint64_t kAlign = 512;  // what cudaMalloc's addresses are multiples of

uint64_t address_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

const char* noun(MemKind kind) {
  switch (kind) {
    case MemKind::device: return "device memory";
    case MemKind::array: return "a CUDA array";
    case MemKind::managed: return "managed memory";
    case MemKind::pinned: return "pinned host memory";
    case MemKind::registered: return "registered host memory";
    case MemKind::variable: return "a variable of the program";
    case MemKind::device_heap: return "memory from device malloc";
    case MemKind::mapped: return "mapped memory (cuMemMap)";
  }
  return "memory";
}

std::string bytes_from(const Allocation& a, uint64_t address) {
  return std::to_string(address - a.base) + " bytes into allocation " + std::to_string(a.id) +
         ", " + std::to_string(a.size) + " bytes of " + noun(a.kind);
}

// Why `pointer` could not be freed, for people.
std::string explain(const void* pointer) {
  const Allocations& memory = runtime().engine.memory();
  const uint64_t address = address_of(pointer);
  const std::string start = hex_text(address_of(pointer)) + ": ";
  if (const auto live = memory.find(address)) {
    if (live->base != address)
      return start + "the pointer is " + bytes_from(*live, address) + ", not its start";
    if (live->kind == MemKind::pinned)
      return start + "this is pinned host memory; free it with cudaFreeHost";
    if (live->kind == MemKind::registered)
      return start + "this is registered host memory; use cudaHostUnregister";
    return start + "this is " + noun(live->kind) +
           (live->name.empty() ? "" : " (" + live->name + ")") +
           "; it is not freed with this function";
  }
  if (const auto freed = memory.find_freed(address))
    return start + "double free: " + (freed->base == address ? "" : "the pointer is inside ") +
           "allocation " + std::to_string(freed->id) + " of " + std::to_string(freed->size) +
           " bytes, which has been freed already";
  return start + "the pointer was never allocated by the CUDA runtime";
}

// Frees once all work is done, as cudaFree does: kernels may still use the memory.
cudaError_t release(void* pointer, std::initializer_list<MemKind> kinds) {
  if (!pointer) return cudaSuccess;
  Runtime& rt = runtime();
  if (const GraphMemoryRef memory = find_graph_memory(pointer)) {
    rt.scheduler.wait_all();
    if (const cudaError_t error = synchronised()) return error;
    return free_graph_memory(memory, rt.scheduler.legacy());
  }
  const auto live = rt.engine.memory().find(address_of(pointer));
  for (const MemKind kind : kinds) {
    if (!live || live->base != address_of(pointer) || live->kind != kind) continue;
    rt.scheduler.wait_all();
    if (const cudaError_t error = synchronised()) return error;
    if (!rt.engine.memory().release(live->base, kind)) break;
    forget_pooled(pointer);
    return cudaSuccess;
  }
  return fail(cudaErrorInvalidValue,
              {.asked = {},
               .why = explain(pointer),
               .fix = "free what was allocated, once, with the function that belongs to it",
               .kind = "invalid-free"});
}

}  // namespace

cudaError_t allocate(void** pointer, size_t bytes, MemKind kind, uint32_t flags) {
  if (!pointer) return cudaErrorInvalidValue;
  if (bytes == 0) {
    *pointer = nullptr;
    return cudaSuccess;
  }
  Allocations& memory = runtime().engine.memory();
  const auto address = memory.allocate(bytes, kAlign, kind, flags);
  if (!address)
    return fail(cudaErrorMemoryAllocation,
                {.asked = {},
                 .why = std::to_string(bytes) + " bytes were asked for, " +
                        std::to_string(memory.capacity() - memory.used()) + " are free",
                 .fix = {}});
  note_allocation(*address);
  *pointer = reinterpret_cast<void*>(*address);
  return cudaSuccess;
}

cudaError_t free_device(void* pointer) {
  return release(pointer, {MemKind::device, MemKind::managed});
}

cudaError_t free_host(void* pointer) { return release(pointer, {MemKind::pinned}); }

std::optional<Allocation> find_allocation(const void* pointer) {
  return runtime().engine.memory().find(address_of(pointer));
}

Range classify(const void* pointer, size_t bytes) {
  if (!pointer) return Range::invalid;
  const Allocations& memory = runtime().engine.memory();
  const uint64_t address = address_of(pointer);
  if (address + bytes < address) return Range::invalid;
  if (const auto live = memory.find(address))
    return live->end() - address >= bytes ? Range::known : Range::invalid;
  if (!memory.is_device_range(address)) return Range::pageable;
  // Memory of a graph may be named before a launch has allocated it.
  const uint64_t rest = graph_memory_after(address);
  return rest && rest >= bytes ? Range::known : Range::invalid;
}

}  // namespace ridge::vm::cudart
