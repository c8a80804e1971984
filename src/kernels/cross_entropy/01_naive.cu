// cross_entropy rung 01, naive: each thread sums the exponentials of its own row, as they are.
//
// Stops at: sectors: the lanes of a load are one row apart, and use 4 (or 2) bytes of the 32 that
//   each of them brings. And at the numbers: exp(89) is infinite in f32, so logits that large give
//   an infinite loss.
// Not for: anything but reading: its results are wrong where logits are large.
#include "kernels/cross_entropy/rows.cuh"

namespace ridge::cross_entropy::naive {

constexpr int kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads) cross_entropy_naive(Args a) {
  const int64_t r = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (r >= a.rows) return;
  const Row<T> row(a, r);
  Statistics s = {0, 0, 0};  // relative to no maximum
  if (!a.backward && !row.target.is_ignored)
    for (int c = 0; c < int(a.cols); ++c) {
      const float x = to_float(row.logits[c]);
      s.sum += expf(x);
      s.total += x - row.pivot;
    }
  put_row<Accurate>(a, r, row, s, 0, 1);
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return around_rows(args, stream, [&](const Args& a) {
    return with_float_type(a.dtype, [&](auto t) {
      cross_entropy_naive<decltype(t)>
          <<<unsigned((a.rows + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
      return launch_status();
    });
  });
}
constinit const Rung rung = {.idea = "one thread, one row: log sum exp(x) as it is written",
                             .supports = supports,
                             .launch = launch,
                             .workspace = scratch_bytes,
                             .claims = {.global_loads_per_element = 1},
                             .fails_on = "large_logits"};

}  // namespace ridge::cross_entropy::naive
