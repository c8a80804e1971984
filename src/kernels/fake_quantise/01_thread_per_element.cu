// fake_quantise rung 01, thread_per_element: one thread reads one number and writes one.
//
// Stops at: bytes in flight and instructions: each thread divides twice, for its row and for the
//   reciprocal of the scale.
// Not for: anything but learning.
#include "kernels/fake_quantise/step.cuh"

namespace ridge::fake_quantise::thread_per_element {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) fake_quantise_thread_per_element(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.rows * a.cols) return;
  const int64_t r = i / a.cols, c = i % a.cols;
  const float x = to_float(static_cast<const T*>(a.x)[r * a.x_stride + c]);
  const Step step(a, r);
  float out;
  if (a.backward)
    out = step.gradient(a, x, to_float(static_cast<const T*>(a.dy)[r * a.dy_stride + c]));
  else out = step.value(a, x);
  static_cast<T*>(a.out)[r * a.out_stride + c] = from_float<T>(out);
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t n = a.rows * a.cols;
  return with_float_type(a.dtype, [&](auto t) {
    fake_quantise_thread_per_element<decltype(t)>
        <<<unsigned((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one element",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::fake_quantise::thread_per_element
