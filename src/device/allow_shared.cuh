// More than 48 KB of dynamic shared memory has to be asked for.
#pragma once

#include <cstddef>
#include <string>

#include "ladder/rung.h"

namespace ridge {

constexpr size_t kSharedUnasked = 48 * 1024;

template <class Kernel>
Status allow_shared(Kernel kernel, size_t bytes) {
  if (bytes <= kSharedUnasked) return Status::ok();
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string("asking for shared memory: ") + cudaGetErrorString(error)};
}

}  // namespace ridge
