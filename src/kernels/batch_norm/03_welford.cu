// batch_norm rung 03, welford: mean and squared distances in one pass.
//
// Since 02_shared_tree: Welford's step corrects the mean and the squared distances with every
//   number, and Chan's merges those of two threads, so no earlier pass for the mean is needed: a
//   channel is read twice, not three times, and has one tree instead of two.
// Stops at: a division per number, each waiting for the one before; the barriers of the tree; as
//   many SMs as there are channels.
// Not for: inference, whose statistics are there, and backward, which has nothing to correct.
#include "device/tree.cuh"
#include "kernels/batch_norm/channels.cuh"

namespace ridge::batch_norm::welford {

constexpr int kThreads = kTreeThreads;

template <class T>
__global__ void __launch_bounds__(kThreads) batch_norm_welford(Args a, Divider by_inner) {
  __shared__ Moments values[kThreads];
  const auto moments = [&](const Channel<T>& channel) {
    Moments mine;
    for (int64_t i = threadIdx.x; i < channel.count; i += kThreads) channel.add(int(i), mine);
    return tree(mine, values, [](const Moments& x, const Moments& y) { return merged(x, y); });
  };
  norm_channel<T>(a, by_inner, moments, [](const Channel<T>&) { return Sums(); });
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.op == Op::train ? supports_any(a) : "the statistics are there already";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    batch_norm_welford<decltype(t)><<<unsigned(a.channels), kThreads, 0, stream>>>(a, by_inner(a));
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "mean and distances in one pass: two reads, not three",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 10, .conflict_free = true}};

}  // namespace ridge::batch_norm::welford
