// Managed memory: hints. The arguments are checked as on hardware.
#include "vm/cudart/managed.h"

#include "vm/cudart/errors.h"
#include "vm/cudart/work.h"

using namespace ridge::vm;
using namespace ridge::vm::cudart;

extern "C" {

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return api([&] {
    if (flags) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_managed(pointer, bytes)) return error;
    if (const cudaError_t error = check_location(location)) return error;
    if (const cudaError_t error = enqueue(stream, EmptyWork{})) return error;
    note_prefetch(pointer, bytes, location);
    return cudaSuccess;
  });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return api([&] {
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
      return cudaErrorInvalidValue;
    const bool read_mostly =
        advice == cudaMemAdviseSetReadMostly || advice == cudaMemAdviseUnsetReadMostly;
    if (const cudaError_t error = check_managed(pointer, bytes)) return error;
    if (!read_mostly)  // which ignores the location
      if (const cudaError_t error = check_location(location)) return error;
    note_advice(pointer, bytes, advice, location);
    return cudaSuccess;
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t bytes, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t count) {
  return api([&] { return range_attribute(data, bytes, attribute, pointer, count); });
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* sizes, cudaMemRangeAttribute* attributes,
                                      size_t number, const void* pointer, size_t count) {
  return api([&] {
    if (!data || !sizes || !attributes || !number) return cudaErrorInvalidValue;
    for (size_t i = 0; i < number; ++i)
      if (const cudaError_t error =
              range_attribute(data[i], sizes[i], attributes[i], pointer, count))
        return error;
    return cudaSuccess;
  });
}

}  // extern "C"
