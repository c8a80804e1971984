// batch_norm rung 02, shared_tree: one block per channel; trees in shared memory add up the mean,
// and then the squared distances from it.
//
// Since 01_naive: 256 threads work on a channel, and in NCHW their loads are neighbours. The
//   variance is made from distances to the mean, which are small where the mean is large.
// Stops at: barriers, ten per tree; the channel is read three times, and only as many SMs work as
//   there are channels.
// Not for: channels last: the lanes of a load are one pixel apart there, and each brings 32
//   bytes.
#include "device/tree.cuh"
#include "kernels/batch_norm/channels.cuh"

namespace ridge::batch_norm::shared_tree {

constexpr int kThreads = kTreeThreads;

template <class T>
__global__ void __launch_bounds__(kThreads) batch_norm_shared_tree(Args a, Divider by_inner) {
  __shared__ float values[kThreads];
  const auto total = [&](float mine) {
    return tree(mine, values, [](float x, float y) { return x + y; });
  };
  const auto moments = [&](const Channel<T>& channel) {
    float sum = 0, squares = 0;
    const float n = float(channel.count);
    for (int64_t i = threadIdx.x; i < channel.count; i += kThreads) sum += channel.at(int(i));
    const float mean = total(sum) / n;
    for (int64_t i = threadIdx.x; i < channel.count; i += kThreads) {
      const float d = channel.at(int(i)) - mean;
      squares += d * d;
    }
    return Moments{n, mean, total(squares)};
  };
  norm_channel<T>(a, by_inner, moments, [&](const Channel<T>& channel) {
    Sums mine;
    for (int64_t i = threadIdx.x; i < channel.count; i += kThreads) channel.add(int(i), mine);
    return Sums{total(mine.dy), total(mine.product)};
  });
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    batch_norm_shared_tree<decltype(t)>
        <<<unsigned(a.channels), kThreads, 0, stream>>>(a, by_inner(a));
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one block, one channel: mean, then distances",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::batch_norm::shared_tree
