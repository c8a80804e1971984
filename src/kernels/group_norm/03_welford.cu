// group_norm rung 03, welford: mean and squared distances in one pass.
//
// Since 02_shared_tree: Welford's step corrects the mean and the squared distances with every
//   number, and Chan's merges those of two threads, so no earlier pass for the mean is needed:
//   the row is read twice, not three times, and has one tree instead of two.
// Stops at: a division per number, each waiting for the one before; the barriers of the tree.
// Not for: backward, which has nothing to correct: its statistics are there.
#include "device/tree.cuh"
#include "kernels/group_norm/groups.cuh"

namespace ridge::group_norm::welford {

constexpr int kThreads = kTreeThreads;

template <class T>
__global__ void __launch_bounds__(kThreads) group_norm_welford(Args a, Divider by_inner) {
  __shared__ Moments values[kThreads];
  const Group<T> row(a, blockIdx.x, by_inner);
  Moments mine;
  for (int i = threadIdx.x; i < row.cols; i += kThreads) mine.add(row.at(i));
  const Moments all =
      tree(mine, values, [](const Moments& x, const Moments& y) { return merged(x, y); });
  const float rstd = rsqrtf(all.m2 / all.count + a.epsilon);
  for (int i = threadIdx.x; i < row.cols; i += kThreads) row.put(i, all.mean, rstd);
  if (threadIdx.x == 0) put_statistics(a, blockIdx.x, all.mean, rstd);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.backward ? "the statistics are there already" : supports_any(a);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    group_norm_welford<decltype(t)><<<unsigned(a.rows()), kThreads, 0, stream>>>(a, by_inner(a));
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "mean and distances in one pass: two reads, not three",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 10, .conflict_free = true}};

}  // namespace ridge::group_norm::welford
