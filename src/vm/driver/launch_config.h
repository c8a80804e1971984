// A launch configuration of the driver as the runtime's, which has the same attributes.
#pragma once

#include "vm/cudart/api.h"
#include "vm/driver/api.h"

namespace ridge::vm::driver {

inline cudaLaunchConfig_t runtime_config(const CUlaunchConfig& c) {
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  return {.gridDim = {c.gridDimX, c.gridDimY, c.gridDimZ},
          .blockDim = {c.blockDimX, c.blockDimY, c.blockDimZ},
          .dynamicSmemBytes = c.sharedMemBytes,
          .stream = c.hStream,
          .attrs = reinterpret_cast<cudaLaunchAttribute*>(c.attrs),
          .numAttrs = c.numAttrs};
}

}  // namespace ridge::vm::driver
