// cross_entropy rung 02, block_per_row: one block per row, and the maximum comes first.
//
// Since 01_naive: exponentials are taken relative to the row's maximum, so none is above 1 and
//   logits may have any size. The lanes of a load are neighbours, and a row has 256 threads.
// Stops at: reading the row twice for its loss, and once more for the gradient.
// Not for: rows shorter than the block.
#include "kernels/cross_entropy/rows.cuh"

namespace ridge::cross_entropy::block_per_row {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) cross_entropy_block_per_row(Args a) {
  __shared__ float4 maxima[kWarpSize], sums[kWarpSize];
  const int64_t r = blockIdx.x;
  const Row<T> row(a, r);
  Statistics s;
  if (!a.backward && !row.target.is_ignored) {
    for (int c = threadIdx.x; c < int(a.cols); c += kThreads)
      s.max = fmaxf(s.max, to_float(row.logits[c]));
    s = warps_merge(lanes_merge(s), maxima);
    s = {s.max, 0, 0};
    const float base = max_sum::base_of(s.max);
    for (int c = threadIdx.x; c < int(a.cols); c += kThreads) {
      const float x = to_float(row.logits[c]);
      s.sum += expf(x - base);
      s.total += x - row.pivot;
    }
    s = warps_merge(lanes_merge(s), sums);
  }
  put_row<Accurate>(a, r, row, s, int(threadIdx.x), kThreads);
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return around_rows(args, stream, [&](const Args& a) {
    return with_float_type(a.dtype, [&](auto t) {
      cross_entropy_block_per_row<decltype(t)><<<unsigned(a.rows), kThreads, 0, stream>>>(a);
      return launch_status();
    });
  });
}
constinit const Rung rung = {.idea = "one block per row; the maximum first, so nothing overflows",
                             .supports = supports,
                             .launch = launch,
                             .workspace = scratch_bytes,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::cross_entropy::block_per_row
