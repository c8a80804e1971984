// warp_scan rung 02, shuffle: the same distances, in registers.
//
// Since 01_shared: a round is one shuffle and one addition. A shuffle is one instruction, so all
//   lanes read before any lane writes.
// Stops at: loads and stores of 4 bytes per lane.
// Not for: rows much longer than a warp: there each thread should first scan several elements of
//   its own, and the warp then their sums.
#include "device/warp_per_row.cuh"
#include "kernels/warp_scan/warp_scan.h"

namespace ridge::warp_scan::shuffle {

using namespace warp_per_row;

template <class T>
__global__ void __launch_bounds__(kWarps* kLanes) warp_scan_shuffle(Args a) {
  const int64_t row = int64_t(blockIdx.x) * kWarps + threadIdx.y;
  if (row >= a.rows) return;  // uniform per warp
  const int lane = threadIdx.x;
  T sum = static_cast<const T*>(a.in)[row * a.in_stride + lane];
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
    const T before = __shfl_up_sync(~0u, sum, distance);
    if (lane >= distance) sum += before;
  }
  static_cast<T*>(a.out)[row * a.out_stride + lane] = sum;
}

static Support supports(const Args& a, const DeviceInfo&) { return takes(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_type(a, stream, [](auto t) { return warp_scan_shuffle<decltype(t)>; });
}
constinit const Rung rung = {
    .idea = "five shuffles; no memory, no barrier",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::warp_scan::shuffle
