// group_norm rung 04, warp_shuffle: the lanes of a warp exchange their sums in registers, and the
// warps of a block theirs at one barrier.
//
// Since 03_welford: shuffles replace the tree, one barrier its ten. Backward, the means that dx
//   needs come from the sums of the channels, which are there before, so x and dy are read twice
//   and not three times, without any barrier.
// Stops at: bytes in flight: each load brings 4 (or 2) bytes per lane.
// Not for: few rows: 32 groups of one sample are 32 blocks.
#include "kernels/group_norm/run_sums.cuh"

namespace ridge::group_norm::warp_shuffle {

constexpr int kThreads = 512;

template <class T>
__global__ void __launch_bounds__(kThreads) group_norm_warp_shuffle(Args a, Divider by_inner) {
  __shared__ float4 partials[kWarpSize];
  const Group<T> row(a, blockIdx.x, by_inner);
  Moments mine;
  for (int i = threadIdx.x; i < row.cols; i += kThreads) mine.add(row.at(i));
  const Moments warp = lanes_merge(mine, lanes_sum(mine.count, kWarpSize), kWarpSize);
  const Moments all = warps_merge(warp, float(row.cols), partials);
  const float rstd = rsqrtf(all.m2 / all.count + a.epsilon);
  for (int i = threadIdx.x; i < row.cols; i += kThreads) row.put(i, all.mean, rstd);
  if (threadIdx.x == 0) put_statistics(a, blockIdx.x, all.mean, rstd);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    group_norm_backward_warp_shuffle(Args a, Divider by_inner, const RunSums* runs) {
  const Group<T> row(a, blockIdx.x, by_inner);
  const float2 means = row_means<T>(a, blockIdx.x, runs);  // every warp for itself
  for (int i = threadIdx.x; i < row.cols; i += kThreads) row.put_dx(i, means.x, means.y);
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) -> Status {
    using T = decltype(t);
    RunSums* const runs = static_cast<RunSums*>(a.workspace);
    const auto rows = unsigned(a.rows());
    if (a.backward) {
      if (const Status s = launch_run_sums<T, false>(a, runs, stream); !s) return s;
      if (a.elements() > 0)
        group_norm_backward_warp_shuffle<T><<<rows, kThreads, 0, stream>>>(a, by_inner(a), runs);
    } else {
      group_norm_warp_shuffle<T><<<rows, kThreads, 0, stream>>>(a, by_inner(a));
    }
    return launch_status();
  });
}
static size_t workspace(const Args& a, const DeviceInfo&) { return run_sums_bytes(a); }
constinit const Rung rung = {.idea = "shuffles and one barrier instead of a tree",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.barriers = 1}};

}  // namespace ridge::group_norm::warp_shuffle
