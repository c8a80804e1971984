// layer_norm rung 03, welford: mean and squared distances in one pass.
//
// Since 02_shared_tree: Welford's step corrects the mean and the squared distances with every
//   number, and Chan's merges those of two threads, so no earlier pass for the mean is needed: the
//   row is read twice, not three times, and has one tree instead of two.
// Stops at: a division per number, each waiting for the one before; the barriers of the tree.
// Not for: rms_norm, which has no mean, and rows that fit into registers, where a second pass is
//   cheaper than the division. Backward has nothing to correct: its statistics are there.
#include "device/moments.cuh"
#include "device/tree.cuh"
#include "kernels/layer_norm/rows.cuh"

namespace ridge::layer_norm::welford {

constexpr int kThreads = kTreeThreads;

template <class T>
__global__ void __launch_bounds__(kThreads) layer_norm_welford(Args a) {
  __shared__ Moments values[kThreads];
  const Rows<T> row(a, blockIdx.x);
  const int cols = int(a.cols);
  Moments mine;
  for (int c = threadIdx.x; c < cols; c += kThreads) mine.add(row.first(c));
  const Moments all =
      tree(mine, values, [](const Moments& x, const Moments& y) { return merged(x, y); });
  const float rstd = rsqrtf(all.m2 / float(cols) + a.epsilon);
  for (int c = threadIdx.x; c < cols; c += kThreads) row.put(c, all.mean, rstd);
  if (threadIdx.x == 0) put_statistics(a, blockIdx.x, all.mean, rstd);
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.backward) return "the statistics are there already";
  if (!a.centred) return "there is no mean to correct";
  return supports_any(a);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    layer_norm_welford<decltype(t)><<<unsigned(a.rows), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "mean and distances in one pass: two reads, not three",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 10, .conflict_free = true}};

}  // namespace ridge::layer_norm::welford
