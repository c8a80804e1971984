// The kernel that reads and nothing else: what the read-only roof is measured with.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace ridge::harness {

void launch_read(const void* data, int64_t bytes, int blocks, unsigned* sink, cudaStream_t stream);

}  // namespace ridge::harness
