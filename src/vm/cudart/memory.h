// Allocating, and knowing what a pointer is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "vm/cudart/api.h"
#include "vm/exec/engine.h"
#include "vm/mem/allocations.h"

namespace ridge::vm::cudart {

// cudaMalloc and similar functions: size 0 is success and a null pointer, as in the real runtime.
cudaError_t allocate(void** pointer, size_t bytes, MemKind kind, uint32_t flags);
// Frees memory of `allocate`. A pointer that is not a live allocation of one of these kinds gives
// cudaErrorInvalidValue, and a report says what it is instead.
cudaError_t free_device(void* pointer);
cudaError_t free_host(void* pointer);

// The live allocation that holds this address; nothing for memory the runtime does not know,
// pageable memory above all.
std::optional<Allocation> find_allocation(const void* pointer);

// Managed memory or a __managed__ variable.
inline bool is_managed(const Allocation& a) {
  return a.kind == MemKind::managed || (a.kind == MemKind::variable && a.flags == kManagedVariable);
}

// Whether [pointer, pointer + bytes) may be touched: inside one known allocation, or pageable host
// memory that overlaps none. Device code may only touch the first.
enum class Range : uint8_t { invalid, pageable, known };
Range classify(const void* pointer, size_t bytes);

}  // namespace ridge::vm::cudart
