// Error codes: their names and texts, and what the runtime remembers about them.
//
// Two memories. Each host thread has a last error, which cudaGetLastError takes and clears. The
// device has a sticky error: once a kernel has faulted the context is dead, and every later call
// answers the fault until cudaDeviceReset.
#pragma once

#include <new>
#include <system_error>
#include <utility>

#include "vm/cudart/api.h"
#include "vm/cudart/failed_call.h"
#include "vm/exec/engine.h"

namespace ridge::vm::cudart {

const char* error_name(cudaError_t error);
const char* error_text(cudaError_t error);

// Remembers a failure as this thread's last error, and reports it. Returns the error, so that a
// function can `return remember(error)`.
cudaError_t remember(cudaError_t error);
cudaError_t peek_last_error();
cudaError_t take_last_error();

// While one of these lives on this thread, the call is one of the driver: a failure is not the
// runtime's last error, and the thread does not count as a user of the runtime.
class DriverCall {
 public:
  DriverCall();
  ~DriverCall();
  DriverCall(const DriverCall&) = delete;
};
bool thread_uses_runtime();  // it has made a call that needs the device
bool runtime_was_used();     // some thread has

cudaError_t sticky_error();
// The first fault counts; later ones follow from it. True when this one was the first.
bool set_sticky_error(cudaError_t error);
void clear_sticky_error();

cudaError_t error_of(FaultKind kind);

// Every runtime function that needs the device goes through here: the sticky error comes first, a
// failure is remembered, and no C++ exception reaches the caller, which may be C.
template <class Body>
cudaError_t api(Body&& body) {
  if (const cudaError_t dead = sticky_error()) return remember(dead);
  return remember([&] {
    const CallScope scope;
    try {
      return std::forward<Body>(body)();
    } catch (const std::bad_alloc&) {
      return cudaErrorMemoryAllocation;
    } catch (const std::system_error&) {  // no thread for a stream
      return cudaErrorOperatingSystem;
    }
  }());
}

}  // namespace ridge::vm::cudart
