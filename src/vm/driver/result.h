// Results of driver calls. Inside, all errors are cudaError_t: from 100 on, the two enumerations
// have the same numbers for the same errors. Errors that only the runtime distinguishes are mapped
// on the way out.
#pragma once

#include <new>
#include <utility>

#include "vm/cudart/errors.h"
#include "vm/driver/api.h"

namespace ridge::vm::driver {

// The driver's names for some of the runtime's codes.
inline constexpr cudaError_t kNotInitialised = cudaErrorInitializationError;
inline constexpr cudaError_t kInvalidContext = cudaErrorDeviceUninitialized;
inline constexpr cudaError_t kInvalidHandle = cudaErrorInvalidResourceHandle;
inline constexpr cudaError_t kNotFound = cudaErrorSymbolNotFound;

CUresult result_of(cudaError_t error);
const char* result_name(CUresult result);  // null: no such result

// CUDA_ERROR_NOT_SUPPORTED, and once on stderr what is not supported, by name.
cudaError_t refuse_call(const char* what, const char* group);

bool initialised();           // by cuInit, or by a call of the runtime
void initialise();            // cuInit
cudaError_t check_context();  // the calling thread has one that is alive

// The driver's number for a result; reports a failure.
CUresult told(cudaError_t error);

// Every driver function goes through one of these. `driver_call` asks for cuInit only;
// `context_call` for a current context and a device that has not faulted, too.
template <class Body>
CUresult driver_call(Body&& body) {
  return told([&] {
    const cudart::DriverCall scope;
    const cudart::CallScope call;
    if (!initialised()) return kNotInitialised;
    try {
      return std::forward<Body>(body)();
    } catch (const std::bad_alloc&) {
      return cudaErrorMemoryAllocation;
    }
  }());
}

template <class Body>
CUresult context_call(Body&& body) {
  return driver_call([&] {
    if (const cudaError_t error = check_context()) return error;
    if (const cudaError_t dead = cudart::sticky_error()) return dead;
    return std::forward<Body>(body)();
  });
}

template <class T>
cudaError_t answer(T* out, T value) {
  if (!out) return cudaErrorInvalidValue;
  *out = value;
  return cudaSuccess;
}

}  // namespace ridge::vm::driver
