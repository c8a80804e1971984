// Managed memory: what the program advised for ranges of it. Host and device share memory, so
// nothing moves; advice is kept and given back.
#pragma once

#include <cstddef>

#include "vm/cudart/api.h"

namespace ridge::vm::cudart {

cudaError_t check_location(const cudaMemLocation& location);
cudaError_t check_managed(const void* pointer, size_t bytes);  // all of it is managed memory

void note_prefetch(const void* pointer, size_t bytes, const cudaMemLocation& location);
void note_advice(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                 const cudaMemLocation& location);
// One attribute of a range: what holds for every page of it.
cudaError_t range_attribute(void* data, size_t bytes, cudaMemRangeAttribute attribute,
                            const void* pointer, size_t count);
void forget_advice();  // device reset

}  // namespace ridge::vm::cudart
