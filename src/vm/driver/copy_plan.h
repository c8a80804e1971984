// From the driver's copy descriptions to copy plans.
#pragma once

#include "vm/cudart/copy.h"
#include "vm/driver/api.h"
#include "vm/driver/result.h"

namespace ridge::vm::driver {

cudaError_t plan_of(const CUDA_MEMCPY3D* copy, cudart::CopyPlan* plan);
cudaError_t plan_of(const CUDA_MEMCPY2D* copy, cudart::CopyPlan* plan);
cudaError_t plan_of(const CUDA_MEMCPY3D_PEER* copy, cudart::CopyPlan* plan);
CUDA_MEMCPY3D copy_of(const cudart::CopyPlan& plan);

}  // namespace ridge::vm::driver
