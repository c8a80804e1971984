// group_norm rung 01, naive: every thread walks along its own row, one sample's part of a group;
// the variance is the mean of the squares less the square of the mean.
//
// Stops at: sectors. The lanes of a load are one row apart, and each brings 32 bytes and uses 4
//   (or 2) of them. Its variance is wrong for numbers far from 0: the two squares agree in most
//   of their digits, and their difference is what rounding left (distribution large_mean, held to
//   fail by the tests).
// Not for: anything whose mean may be large beside its deviation.
#include "kernels/group_norm/groups.cuh"

namespace ridge::group_norm::naive {

constexpr int kThreads = 64;

template <class T>
__global__ void __launch_bounds__(kThreads) group_norm_naive(Args a, Divider by_inner) {
  const int64_t r = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (r >= a.rows()) return;
  const Group<T> row(a, r, by_inner);
  const float n = float(row.cols);
  float sum = 0, squares = 0;
  if (a.backward) {
    for (int i = 0; i < row.cols; ++i) {
      sum += row.g(i);
      squares += row.g(i) * row.h(i);
    }
    for (int i = 0; i < row.cols; ++i) row.put_dx(i, sum / n, squares / n);
    return;
  }
  for (int i = 0; i < row.cols; ++i) {
    sum += row.at(i);
    squares += row.at(i) * row.at(i);
  }
  const float mean = sum / n, rstd = rsqrtf(squares / n - mean * mean + a.epsilon);
  for (int i = 0; i < row.cols; ++i) row.put(i, mean, rstd);
  put_statistics(a, r, mean, rstd);
}

template <class T>
__global__ void __launch_bounds__(kThreads) group_norm_channels_naive(Args a) {
  const int64_t c = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (c >= a.channels()) return;
  float dgamma = 0, dbeta = 0;
  for (int64_t n = 0; n < a.n; ++n) {
    const int64_t row = n * a.groups + c / a.depth, begin = (n * a.channels() + c) * a.inner;
    const float mean = a.mean[row], rstd = a.rstd[row];
    for (int64_t i = begin; i < begin + a.inner; ++i) {
      const float dy = to_float(static_cast<const T*>(a.dy)[i]);
      dgamma += dy * ((to_float(static_cast<const T*>(a.x)[i]) - mean) * rstd);
      dbeta += dy;
    }
  }
  a.dgamma[c] = dgamma;
  a.dbeta[c] = dbeta;
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const auto blocks = [](int64_t n) { return unsigned((n + kThreads - 1) / kThreads); };
    if (a.backward) group_norm_channels_naive<T><<<blocks(a.channels()), kThreads, 0, stream>>>(a);
    if (a.elements() > 0)
      group_norm_naive<T><<<blocks(a.rows()), kThreads, 0, stream>>>(a, by_inner(a));
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one row: E[x^2] - E[x]^2",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0},
                             .fails_on = "large_mean"};

}  // namespace ridge::group_norm::naive
