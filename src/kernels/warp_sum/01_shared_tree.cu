// warp_sum rung 01, shared_tree: halves of the row are added through shared memory.
//
// Stops at: five rounds of a store, a load and a warp barrier, each waiting for the one before.
// Not for: any GPU with shuffles (02).
#include "device/warp_per_row.cuh"
#include "kernels/warp_sum/warp_sum.h"

namespace ridge::warp_sum::shared_tree {

using namespace warp_per_row;

template <class T>
__global__ void __launch_bounds__(kWarps* kLanes) warp_sum_shared_tree(Args a) {
  const int64_t row = int64_t(blockIdx.x) * kWarps + threadIdx.y;
  if (row >= a.rows) return;  // uniform per warp
  const int lane = threadIdx.x;
  __shared__ T sums[kWarps][kLanes];
  T(&mine)[kLanes] = sums[threadIdx.y];
  mine[lane] = static_cast<const T*>(a.in)[row * a.in_stride + lane];
  __syncwarp();
#pragma unroll
  for (int half = kLanes / 2; half > 0; half /= 2) {
    if (lane < half) mine[lane] += mine[lane + half];
    __syncwarp();
  }
  if (lane == 0) static_cast<T*>(a.out)[row] = mine[0];
}

static Support supports(const Args& a, const DeviceInfo&) { return takes(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_type(a, stream, [](auto t) { return warp_sum_shared_tree<decltype(t)>; });
}
constinit const Rung rung = {.idea = "a tree in shared memory, one warp barrier per level",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0, .conflict_free = true}};

}  // namespace ridge::warp_sum::shared_tree
