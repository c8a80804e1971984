// cudaDeviceSetLimit and cudaDeviceGetLimit.
#pragma once

#include <cstddef>

#include "vm/cudart/api.h"

namespace ridge::vm::cudart {

cudaError_t get_limit(cudaLimit limit, size_t* value);
cudaError_t set_limit(cudaLimit limit, size_t value);
void reset_limits();

}  // namespace ridge::vm::cudart
