// A block's scan by shuffles: within the warps, then over their totals.
#pragma once

#include "kernels/scan/walk.cuh"
#include "ridge/detail/scan_tiles.cuh"

namespace ridge::scan {

constexpr int kWarps = kThreads / detail::kWarpLanes;
static_assert(kWarps == detail::kWarpLanes, "one warp scans the totals of all");

template <class A, class Op>
__device__ Scanned<A> block_scan_by_warps(A x, const Op& op, A (&totals)[kWarps]) {
  const int lane = int(threadIdx.x) % detail::kWarpLanes;
  const int warp = int(threadIdx.x) / detail::kWarpLanes;
  const A through = detail::warp_inclusive_scan(x, op, lane);
  const A below = detail::from_lane_below(through, 1);
  __syncthreads();  // the totals of the chunk before have been read
  if (lane == detail::kWarpLanes - 1) totals[warp] = through;
  __syncthreads();
  // Every warp scans the totals for itself: cheaper than a third barrier.
  const A warps = detail::warp_inclusive_scan(totals[lane], op, lane);
  const A warps_before =
      warp == 0 ? op.identity() : detail::from_lane(warps, warp == 0 ? 0 : warp - 1);
  return {lane == 0 ? warps_before : op(warps_before, below), op(warps_before, through),
          detail::from_lane(warps, detail::kWarpLanes - 1)};
}

}  // namespace ridge::scan
