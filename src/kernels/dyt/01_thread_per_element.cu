// dyt rung 01, thread_per_element: the formula as it stands, one element per thread.
//
// Stops at: bytes in flight and instructions: each thread loads four numbers for one result.
// Not for: two-byte formats above all, of which a warp asks for 64 bytes at a time.
#include "device/activations.cuh"
#include "kernels/dyt/dyt.h"

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

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "takes f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t n = a.rows * a.cols;
  if (n == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    dyt_thread_per_element<decltype(t)>
        <<<unsigned((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "one thread, one element",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 4, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::dyt::thread_per_element
