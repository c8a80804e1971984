// Words of device memory are set to 0 by a kernel. cudaMemsetAsync would do, too, but while a graph
// is captured it looks up its destination, and then no such call can be captured without memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ladder/rung.h"  // launch_status

namespace ridge {

static __global__ void clear_words_kernel(uint32_t* words, size_t count) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) words[i] = 0;
}

// `words` starts at a multiple of 4 bytes.
inline Status clear_words(void* words, size_t count, cudaStream_t stream) {
  constexpr size_t kThreads = 256, kMostBlocks = 1024;
  if (count == 0) return Status::ok();
  const size_t blocks = std::min((count + kThreads - 1) / kThreads, kMostBlocks);
  clear_words_kernel<<<unsigned(blocks), unsigned(kThreads), 0, stream>>>(
      static_cast<uint32_t*>(words), count);
  return launch_status();
}

static __global__ void clear_bytes_kernel(uint8_t* bytes, size_t count) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) bytes[i] = 0;
}

// Where the count need not be one of whole words: byte by byte, for a few of them.
inline Status clear_bytes(void* bytes, size_t count, cudaStream_t stream) {
  constexpr size_t kThreads = 256, kMostBlocks = 1024;
  if (count == 0) return Status::ok();
  const size_t blocks = std::min((count + kThreads - 1) / kThreads, kMostBlocks);
  clear_bytes_kernel<<<unsigned(blocks), unsigned(kThreads), 0, stream>>>(
      static_cast<uint8_t*>(bytes), count);
  return launch_status();
}

}  // namespace ridge
