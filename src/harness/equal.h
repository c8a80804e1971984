// The kernel that compares two pieces of device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace ridge::harness {

// Sets *differ to 1 where any byte of the two is not the same.
void launch_compare(const void* a, const void* b, int64_t bytes, unsigned* differ,
                    cudaStream_t stream);

}  // namespace ridge::harness
