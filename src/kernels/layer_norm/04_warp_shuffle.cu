// layer_norm rung 04, warp_shuffle: one warp per row; its lanes exchange their sums in registers.
//
// Since 03_welford: shuffles replace the tree. There is no barrier and no shared memory, so warps
//   never wait for one another. The lanes' means differ, so the common mean comes first, and each
//   lane then moves its distances to it: two sums by shuffles, one division.
// Stops at: bytes in flight: each load brings 4 (or 2) bytes per lane. A wide row has only 32
//   lanes, and is read twice, from L2 if it is still there.
// Not for: few wide rows: one warp per row leaves most of the GPU idle.
#include "device/moments.cuh"
#include "kernels/layer_norm/column_sums.cuh"

namespace ridge::layer_norm::warp_shuffle {

constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarpSize;

template <class T>
__global__ void __launch_bounds__(kThreads) layer_norm_warp_shuffle(Args a) {
  const int lane = threadIdx.x % kWarpSize, cols = int(a.cols);
  const int64_t r = int64_t(blockIdx.x) * kWarps + threadIdx.x / kWarpSize;
  if (r >= a.rows) return;  // the whole warp
  const Rows<T> row(a, r);
  Moments mine;
  if (a.centred) {
    for (int c = lane; c < cols; c += kWarpSize) mine.add(row.first(c));
  } else {
    for (int c = lane; c < cols; c += kWarpSize) {
      const float x = row.first(c);
      mine = {mine.count + 1, 0, mine.m2 + x * x};
    }
  }
  const Moments all = lanes_merge(mine, float(cols), kWarpSize);
  const float rstd = rsqrtf(all.m2 / float(cols) + a.epsilon);
  for (int c = lane; c < cols; c += kWarpSize) row.put(c, all.mean, rstd);
  if (lane == 0) put_statistics(a, r, all.mean, rstd);
}

template <class T>
__global__ void __launch_bounds__(kThreads) layer_norm_backward_warp_shuffle(Args a) {
  const int lane = threadIdx.x % kWarpSize, cols = int(a.cols);
  const int64_t r = int64_t(blockIdx.x) * kWarps + threadIdx.x / kWarpSize;
  if (r >= a.rows) return;  // the whole warp
  const Gradients<T> row(a, r);
  float sum = 0, product = 0;
  for (int c = lane; c < cols; c += kWarpSize) {
    sum += row.g(c);
    product += row.g(c) * row.n(c);
  }
  const float mean_g = a.centred ? lanes_sum(sum, kWarpSize) / float(cols) : 0;
  const float mean_gn = lanes_sum(product, kWarpSize) / float(cols);
  for (int c = lane; c < cols; c += kWarpSize) row.put(c, mean_g, mean_gn);
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) -> Status {
    using T = decltype(t);
    if (a.backward)
      if (const Status s = launch_column_sums<T, 1>(a, device, stream); !s) return s;
    const auto kernel =
        a.backward ? layer_norm_backward_warp_shuffle<T> : layer_norm_warp_shuffle<T>;
    if (a.rows > 0) kernel<<<unsigned((a.rows + kWarps - 1) / kWarps), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return column_sums_bytes(a, device, 1);
}
constinit const Rung rung = {.idea = "one warp, one row: shuffles, no barriers",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.barriers = 0}};

}  // namespace ridge::layer_norm::warp_shuffle
