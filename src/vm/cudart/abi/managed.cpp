// Managed memory: hints. Host and device share memory, so nothing has to move; the arguments are
// checked as on hardware.
#include "vm/cudart/errors.h"
#include "vm/cudart/memory.h"
#include "vm/cudart/work.h"

using namespace ridge::vm;
using namespace ridge::vm::cudart;

namespace {

cudaError_t check_location(const cudaMemLocation& location) {
  switch (location.type) {
    case cudaMemLocationTypeDevice: return location.id == 0 ? cudaSuccess : cudaErrorInvalidDevice;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent: return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t check_range(const void* pointer, size_t bytes) {
  const auto found = find_allocation(pointer);
  if (!bytes || !found || !is_managed(*found)) return cudaErrorInvalidValue;
  return classify(pointer, bytes) == Range::known ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

extern "C" {

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return api([&] {
    if (flags) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_range(pointer, bytes)) return error;
    if (const cudaError_t error = check_location(location)) return error;
    return enqueue(stream, EmptyWork{});
  });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return api([&] {
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
      return cudaErrorInvalidValue;
    const bool read_mostly =
        advice == cudaMemAdviseSetReadMostly || advice == cudaMemAdviseUnsetReadMostly;
    if (const cudaError_t error = check_range(pointer, bytes)) return error;
    // Read-mostly ignores the location.
    return read_mostly ? cudaSuccess : check_location(location);
  });
}

}  // extern "C"
