// dyt rung 01, thread_per_element: the formula as it stands, one element per thread. Backward, a
// thread walks down a column, so that its sums stay in registers.
//
// Stops at: bytes in flight and instructions: each thread loads four numbers for one result.
//   Backward, there are only as many threads as columns.
// Not for: two-byte formats above all: a warp asks for only 64 bytes at a time.
#include "device/activations.cuh"
#include "kernels/dyt/sums.cuh"

namespace ridge::dyt::thread_per_element {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) dyt_thread_per_element(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.rows * a.cols) return;
  const int64_t r = i / a.cols, c = i % a.cols;
  const float x = to_float(static_cast<const T*>(a.x)[r * a.x_stride + c]);
  const float gamma = to_float(static_cast<const T*>(a.gamma)[c]);
  const float beta = to_float(static_cast<const T*>(a.beta)[c]);
  const float y = gamma * activations::Tanh<T>::value(*a.alpha * x) + beta;
  static_cast<T*>(a.y)[r * a.y_stride + c] = from_float<T>(y);
}

template <class T>
__global__ void __launch_bounds__(kThreads) dyt_thread_per_column(Args a, Partials partials) {
  const int64_t c = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (c >= a.cols) return;
  const float gamma = to_float(static_cast<const T*>(a.gamma)[c]), alpha = *a.alpha;
  Sums sums;
  for (int64_t r = 0; r < a.rows; ++r) {
    const float x = to_float(static_cast<const T*>(a.x)[r * a.x_stride + c]);
    const float dy = to_float(static_cast<const T*>(a.dy)[r * a.dy_stride + c]);
    static_cast<T*>(a.dx)[r * a.dx_stride + c] = from_float<T>(sums.add(x, dy, gamma, alpha));
  }
  partials.dgamma[c] = sums.dgamma;
  partials.dbeta[c] = sums.dbeta;
  partials.dalpha[c] = sums.dalpha;
}

static Partials partials_of(const Args& a) { return Partials(a, 1, a.cols); }

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "takes f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.backward)
    return with_float_type(a.dtype, [&](auto t) {
      const Partials partials = partials_of(a);
      if (a.cols > 0)
        dyt_thread_per_column<decltype(t)>
            <<<unsigned((a.cols + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a, partials);
      return add_partials(a, partials, stream);
    });
  const int64_t n = a.rows * a.cols;
  if (n == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    dyt_thread_per_element<decltype(t)>
        <<<unsigned((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
static size_t workspace(const Args& a, const DeviceInfo&) {
  return a.backward ? partials_of(a).bytes() : 0;
}
constinit const Rung rung = {
    .idea = "one thread, one element",
    .supports = supports,
    .launch = launch,
    .workspace = workspace,
    .claims = {.global_loads_per_element = 4, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::dyt::thread_per_element
