#include "harness/roof.h"

namespace ridge::harness {

constexpr int kThreads = 512, kUnroll = 4;

__global__ void __launch_bounds__(kThreads)
    read_only(const int4* data, int64_t packs, unsigned* sink) {
  int folded = 0;
  const int64_t step = int64_t(gridDim.x) * kThreads * kUnroll;
  for (int64_t base = int64_t(blockIdx.x) * kThreads * kUnroll + threadIdx.x; base < packs;
       base += step) {
    int4 x[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
      x[u] = base + u * kThreads < packs ? data[base + u * kThreads] : int4{0, 0, 0, 0};
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) folded ^= x[u].x ^ x[u].y ^ x[u].z ^ x[u].w;
  }
  if (folded == 0x13572468) *sink = unsigned(folded);  // never, but the compiler cannot know
}

void launch_read(const void* data, int64_t bytes, int blocks, unsigned* sink, cudaStream_t stream) {
  read_only<<<unsigned(blocks), kThreads, 0, stream>>>(static_cast<const int4*>(data), bytes / 16,
                                                       sink);
}

}  // namespace ridge::harness
