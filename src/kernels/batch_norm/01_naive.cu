// batch_norm rung 01, naive: every thread walks along its own channel; the variance is the mean
// of the squares less the square of the mean.
//
// Stops at: the number of channels: 64 channels are two warps, and the rest of the GPU is idle.
//   In NCHW the lanes of a load are one channel apart, and each brings 32 bytes and uses 4 (or
//   2). Its variance is wrong for numbers far from 0: the two squares agree in most of their
//   digits, and their difference is what rounding left (distribution large_mean, held to fail by
//   the tests).
// Not for: anything whose mean may be large beside its deviation.
#include "kernels/batch_norm/channels.cuh"

namespace ridge::batch_norm::naive {

constexpr int kThreads = 64;

template <class T>
__global__ void __launch_bounds__(kThreads) batch_norm_naive(Args a, Divider by_inner) {
  const int64_t c = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (c >= a.channels) return;
  const Channel<T> channel(a, c, by_inner);
  const float n = float(channel.count);
  Line line;
  if (a.op == Op::train) {
    float sum = 0, squares = 0;
    for (int i = 0; i < channel.count; ++i) {
      const float x = channel.at(i);
      sum += x;
      squares += x * x;
    }
    const float mean = sum / n;
    line = line_of<T>(a, c, Moments{n, mean, (squares / n - mean * mean) * n}, true);
  } else if (a.op == Op::infer) {
    line = inference_line<T>(a, c);
  } else {
    Sums sums;
    for (int i = 0; i < channel.count; ++i) channel.add(i, sums);
    line = line_of<T>(a, c, sums, true);
  }
  for (int i = 0; i < channel.count; ++i) channel.put(i, line, a.op == Op::backward);
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    batch_norm_naive<decltype(t)>
        <<<unsigned((a.channels + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a, by_inner(a));
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one channel: E[x^2] - E[x]^2",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0},
                             .fails_on = "large_mean"};

}  // namespace ridge::batch_norm::naive
