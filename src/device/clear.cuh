// Device memory is set to 0 by a kernel. cudaMemsetAsync would do, too, but while a graph is
// captured it looks up its destination, and then no such call can be captured without memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ladder/rung.h"  // launch_status

namespace ridge {

template <class T>
__global__ void clear_kernel(T* to, size_t count) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) to[i] = 0;
}

template <class T>
Status clear(T* to, size_t count, cudaStream_t stream) {
  constexpr size_t kThreads = 256, kMostBlocks = 1024;
  if (count == 0) return Status::ok();
  const size_t blocks = std::min((count + kThreads - 1) / kThreads, kMostBlocks);
  clear_kernel<<<unsigned(blocks), unsigned(kThreads), 0, stream>>>(to, count);
  return launch_status();
}

// `words` starts at a multiple of 4 bytes.
inline Status clear_words(void* words, size_t count, cudaStream_t stream) {
  return clear(static_cast<uint32_t*>(words), count, stream);
}
// Where the count need not be one of whole words.
inline Status clear_bytes(void* bytes, size_t count, cudaStream_t stream) {
  return clear(static_cast<uint8_t*>(bytes), count, stream);
}

}  // namespace ridge
