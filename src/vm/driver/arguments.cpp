#include "vm/driver/arguments.h"

#include "vm/cudart/function.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::driver {

cudaError_t Arguments::read(const void* function, void** params, void** extra) {
  if (params && extra) return cudaErrorInvalidValue;
  pointers_ = params;
  if (!extra) return cudaSuccess;
  char* buffer = nullptr;
  const size_t* size = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<char*>(extra[1]);
    else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) size = static_cast<const size_t*>(extra[1]);
    else return cudaErrorInvalidValue;
  }
  cudart::ResolvedFunction f;
  if (const cudaError_t error = cudart::resolve_function(function, &f)) return error;
  const auto& wanted = cudart::runtime().engine.info(f.kernel).params;
  for (const auto& param : wanted) {
    if (!buffer || !size || param.offset + size_t(param.size) > *size) return cudaErrorInvalidValue;
    into_buffer_.push_back(buffer + param.offset);
  }
  pointers_ = into_buffer_.data();
  return cudaSuccess;
}

}  // namespace ridge::vm::driver
