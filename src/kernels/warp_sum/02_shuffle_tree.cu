// warp_sum rung 02, shuffle_tree: lanes read each other's registers.
//
// Since 01_shared_tree: a level is one shuffle and one addition. A shuffle waits for all lanes that
//   it names, so it needs no barrier and no memory.
// Stops at: loads of 4 bytes per lane, and five shuffles per row.
// Not where lanes need many values of each other: a shuffle moves one word per lane, through the
//   same port as shared memory.
#include "device/warp_per_row.cuh"
#include "kernels/warp_sum/warp_sum.h"

namespace ridge::warp_sum::shuffle_tree {

using namespace warp_per_row;

template <class T>
__global__ void __launch_bounds__(kWarps* kLanes) warp_sum_shuffle_tree(Args a) {
  const int64_t row = int64_t(blockIdx.x) * kWarps + threadIdx.y;
  if (row >= a.rows) return;  // uniform per warp
  const int lane = threadIdx.x;
  T sum = static_cast<const T*>(a.in)[row * a.in_stride + lane];
#pragma unroll
  for (int half = kLanes / 2; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
  if (lane == 0) static_cast<T*>(a.out)[row] = sum;
}

static Support supports(const Args& a, const DeviceInfo&) { return takes(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_type(a, stream, [](auto t) { return warp_sum_shuffle_tree<decltype(t)>; });
}
constinit const Rung rung = {.idea = "five shuffles; no memory, no barrier",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1, .barriers = 0}};

}  // namespace ridge::warp_sum::shuffle_tree
