// layer_norm rung 01, naive: every thread walks along its own row; the variance is the mean of the
// squares less the square of the mean.
//
// Stops at: sectors. The lanes of a load are one row apart, and each brings 32 bytes and uses 4 (or
//   2) of them. Its variance is wrong for numbers far from 0: the two squares agree in most of
//   their digits, and their difference is what rounding left (distribution large_mean, held to fail
//   by the tests).
// Not for: anything whose mean may be large beside its deviation.
#include "kernels/layer_norm/column_sums.cuh"

namespace ridge::layer_norm::naive {

constexpr int kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads) layer_norm_naive(Args a) {
  const int64_t r = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (r >= a.rows) return;
  const Rows<T> row(a, r);
  float sum = 0, squares = 0;
  for (int c = 0; c < a.cols; ++c) {
    const float x = row.first(c);
    sum += x;
    squares += x * x;
  }
  const float mean = a.centred ? sum / float(a.cols) : 0;
  const float rstd = rsqrtf(squares / float(a.cols) - mean * mean + a.epsilon);
  for (int c = 0; c < a.cols; ++c) row.put(c, mean, rstd);
  put_statistics(a, r, mean, rstd);
}

template <class T>
__global__ void __launch_bounds__(kThreads) layer_norm_backward_naive(Args a) {
  const int64_t r = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (r >= a.rows) return;
  const Gradients<T> row(a, r);
  float sum = 0, product = 0;
  for (int c = 0; c < a.cols; ++c) {
    sum += row.g(c);
    product += row.g(c) * row.n(c);
  }
  const float mean_g = a.centred ? sum / float(a.cols) : 0, mean_gn = product / float(a.cols);
  for (int c = 0; c < a.cols; ++c) row.put(c, mean_g, mean_gn);
}

template <class T>
__global__ void __launch_bounds__(kThreads) layer_norm_columns_naive(Args a) {
  const int64_t c = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (c >= a.cols) return;
  float dgamma = 0, dbeta = 0;
  for (int64_t r = 0; r < a.rows; ++r) {
    const Gradients<T> row(a, r);
    dgamma += to_float(row.dy[c]) * row.n(int(c));
    dbeta += to_float(row.dy[c]);
  }
  a.dgamma[c] = dgamma;
  if (a.dbeta) a.dbeta[c] = dbeta;
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const unsigned by_rows = unsigned((a.rows + kThreads - 1) / kThreads);
    const unsigned by_cols = unsigned((a.cols + kThreads - 1) / kThreads);
    if (a.backward) layer_norm_columns_naive<T><<<by_cols, kThreads, 0, stream>>>(a);
    const auto kernel = a.backward ? layer_norm_backward_naive<T> : layer_norm_naive<T>;
    if (a.rows > 0) kernel<<<by_rows, kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one row: E[x^2] - E[x]^2",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0},
                             .fails_on = "large_mean"};

}  // namespace ridge::layer_norm::naive
