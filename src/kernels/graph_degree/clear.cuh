// The counters start at 0.
#pragma once

#include "kernels/graph_degree/graph_degree.h"

namespace ridge::graph_degree {

constexpr int kThreads = 256;

static __global__ void __launch_bounds__(kThreads) clear_degrees(Args a) {
  const int64_t v = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (v < a.vertices) a.degrees[v] = 0;
}
inline unsigned blocks_for(int64_t n) { return unsigned((n + kThreads - 1) / kThreads); }
inline Status launch_clear(const Args& a, cudaStream_t stream) {
  clear_degrees<<<blocks_for(a.vertices), kThreads, 0, stream>>>(a);
  return launch_status();
}

}  // namespace ridge::graph_degree
