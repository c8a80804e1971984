// warp_sum rung 03, redux: the tree is one instruction.
//
// Since 02_shuffle_tree: five shuffles and additions become one reduction, for integers only:
//   floating-point sums depend on their order, which the instruction leaves open.
// Stops at: loads of 4 bytes per lane.
// Not for: floats, for which the instruction does not exist on this architecture.
#include "device/warp_per_row.cuh"
#include "kernels/warp_sum/warp_sum.h"

namespace ridge::warp_sum::redux {

using namespace warp_per_row;

__global__ void __launch_bounds__(kWarps* kLanes) warp_sum_redux(Args a) {
  const int64_t row = int64_t(blockIdx.x) * kWarps + threadIdx.y;
  if (row >= a.rows) return;  // uniform per warp
  const int lane = threadIdx.x;
  const int x = static_cast<const int*>(a.in)[row * a.in_stride + lane];
  const int sum = __reduce_add_sync(~0u, x);
  if (lane == 0) static_cast<int*>(a.out)[row] = sum;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::i32 ? kSupported : "the instruction adds integers only";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_type(a, stream, [](auto) { return warp_sum_redux; });
}
constinit const Rung rung = {.idea = "one instruction, for integers",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1, .barriers = 0}};

}  // namespace ridge::warp_sum::redux
