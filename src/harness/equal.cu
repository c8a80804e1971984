#include "harness/equal.h"

namespace ridge::harness {

constexpr int kThreads = 512, kMostBlocks = 4096;

// Byte by byte: tensors may start anywhere. Memory is still read in whole sectors.
__global__ void __launch_bounds__(kThreads)
    compare(const unsigned char* a, const unsigned char* b, int64_t bytes, unsigned* differ) {
  bool any = false;
  const int64_t step = int64_t(gridDim.x) * kThreads;
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < bytes; i += step)
    any |= a[i] != b[i];
  if (any) *differ = 1;
}

void launch_compare(const void* a, const void* b, int64_t bytes, unsigned* differ,
                    cudaStream_t stream) {
  const int64_t blocks = (bytes + kThreads - 1) / kThreads;
  compare<<<unsigned(blocks < kMostBlocks ? blocks : kMostBlocks), kThreads, 0, stream>>>(
      static_cast<const unsigned char*>(a), static_cast<const unsigned char*>(b), bytes, differ);
}

}  // namespace ridge::harness
