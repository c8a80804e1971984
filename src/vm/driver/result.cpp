#include "vm/driver/result.h"

#include <atomic>
#include <string>

#include "vm/driver/contexts.h"

namespace ridge::vm::driver {
namespace {

std::atomic<bool> was_initialised{false};

}  // namespace

CUresult result_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidChannelDescriptor:
    case cudaErrorInvalidNormSetting:
    case cudaErrorInvalidFilterSetting:
    case cudaErrorInvalidMemcpyDirection: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
    default: return CUresult(error);
  }
}

const char* result_name(CUresult result) {
  switch (result) {
#define RIDGE_RESULT(name) \
  case name:               \
    return #name;
#include "vm/driver/results.def"
#undef RIDGE_RESULT
    default: return nullptr;
  }
}

cudaError_t refuse_call(const char* what, const char* group) {
  cudart::tell_unsupported(what, group, "docs/driver.md");
  return cudaErrorNotSupported;
}

CUresult told(cudaError_t error) {
  const CUresult result = result_of(error);
  if (error && error != cudart::sticky_error() && !cudart::CallScope::inside()) {
    const char* name = result_name(result);
    cudart::tell_failed(error, name ? name : "an unknown result");
  }
  return result;
}

// The runtime initialises the driver.
bool initialised() {
  return was_initialised.load(std::memory_order_acquire) || cudart::runtime_was_used();
}
void initialise() { was_initialised.store(true, std::memory_order_release); }

cudaError_t check_context() {
  ContextRef context;
  return current_context(&context);
}

}  // namespace ridge::vm::driver
