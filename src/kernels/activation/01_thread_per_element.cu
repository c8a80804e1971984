// activation rung 01, thread_per_element: one thread reads one number and writes one.
//
// Stops at: bytes in flight. A warp asks for 128 bytes at a time (64 in two-byte formats), and each
//   thread pays for a division and a jump before it does a few instructions of work.
// Not for: anything but learning.
#include "device/convert.cuh"
#include "kernels/activation/activation.h"
#include "kernels/activation/dispatch.cuh"

namespace ridge::activation::thread_per_element {

constexpr int kThreads = 256;

template <class T, bool Backward>
__global__ void __launch_bounds__(kThreads) activation_thread_per_element(Args args) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.rows * args.cols) return;
  const int64_t r = i / args.cols, c = i % args.cols;
  const float x = to_float(static_cast<const T*>(args.x)[r * args.x_stride + c * args.x_step]);
  float dy = 0, y = 0;
  if (Backward)
    dy = to_float(static_cast<const T*>(args.dy)[r * args.dy_stride + c * args.dy_step]);
  with_function<T>(args.function, {args.alpha, args.beta},
                   [&](auto f) { y = Backward ? f.gradient(x, dy) : f.value(x); });
  static_cast<T*>(args.out)[r * args.out_stride + c * args.out_step] = from_float<T>(y);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "activations take f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t n = a.rows * a.cols;
  if (n == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const auto kernel = a.backward ? activation_thread_per_element<T, true>
                                   : activation_thread_per_element<T, false>;
    kernel<<<unsigned((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one element",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::activation::thread_per_element
