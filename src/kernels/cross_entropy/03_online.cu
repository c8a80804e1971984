// cross_entropy rung 03, online: maximum and sum in one pass.
//
// Since 02_block_per_row: the sum is relative to the maximum so far, and is rescaled when the
//   maximum grows, so the loss takes one read of the logits, and the gradient a second one.
// Stops at: bytes in flight: each thread waits for one element of 4 (or 2) bytes at a time, because
//   the next sum needs the one before.
// Not for: backward alone, which has no maximum to find.
#include "kernels/cross_entropy/rows.cuh"

namespace ridge::cross_entropy::online {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) cross_entropy_online(Args a) {
  __shared__ float4 partials[kWarpSize];
  const int64_t r = blockIdx.x;
  const Row<T> row(a, r);
  Statistics s;
  if (!row.target.is_ignored) {
    for (int c = threadIdx.x; c < int(a.cols); c += kThreads) {
      const float x = to_float(row.logits[c]);
      s.add(x);
      s.total += x - row.pivot;
    }
    s = warps_merge(lanes_merge(s), partials);
  }
  put_row<Fast>(a, r, row, s, int(threadIdx.x), kThreads);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.backward ? "backward has no maximum to find" : supports_any(a);
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return around_rows(args, stream, [&](const Args& a) {
    return with_float_type(a.dtype, [&](auto t) {
      cross_entropy_online<decltype(t)><<<unsigned(a.rows), kThreads, 0, stream>>>(a);
      return launch_status();
    });
  });
}
constinit const Rung rung = {.idea = "maximum and sum in one pass: one read for the loss",
                             .supports = supports,
                             .launch = launch,
                             .workspace = scratch_bytes,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::cross_entropy::online
