// warp_scan rung 01, shared: each lane adds the one 1, 2, 4, 8, 16 places before it.
//
// Stops at: five rounds of a load, a barrier, a store and a barrier: a lane must have read before
//   its neighbour writes.
// Not for: any GPU with shuffles (02).
#include "device/warp_per_row.cuh"
#include "kernels/warp_scan/warp_scan.h"

namespace ridge::warp_scan::shared {

using namespace warp_per_row;

template <class T>
__global__ void __launch_bounds__(kWarps* kLanes) warp_scan_shared(Args a) {
  const int64_t row = int64_t(blockIdx.x) * kWarps + threadIdx.y;
  if (row >= a.rows) return;  // uniform per warp
  const int lane = threadIdx.x;
  __shared__ T sums[kWarps][kLanes];
  T(&mine)[kLanes] = sums[threadIdx.y];
  T sum = static_cast<const T*>(a.in)[row * a.in_stride + lane];
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
    mine[lane] = sum;
    __syncwarp();
    if (lane >= distance) sum += mine[lane - distance];
    __syncwarp();
  }
  static_cast<T*>(a.out)[row * a.out_stride + lane] = sum;
}

static Support supports(const Args& a, const DeviceInfo&) { return takes(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_type(a, stream, [](auto t) { return warp_scan_shared<decltype(t)>; });
}
constinit const Rung rung = {.idea = "doubling distances in shared memory",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1,
                                        .global_stores_per_element = 1,
                                        .barriers = 0,
                                        .conflict_free = true}};

}  // namespace ridge::warp_scan::shared
