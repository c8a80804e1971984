// dropout rung 01, thread_per_element: each thread draws four random numbers and uses one.
//
// Stops at: instruction issue. Seven rounds of Philox are 28 instructions and more, for one number.
// Not for: anything but learning: it throws away three of the four numbers of every call.
#include "device/convert.cuh"
#include "device/philox.cuh"
#include "kernels/dropout/dropout.h"

namespace ridge::dropout::thread_per_element {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads)
    dropout_thread_per_element(Args args, Philox stream, uint32_t dropped_below, float factor) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.rows * args.cols) return;
  const int64_t r = i / args.cols, c = i % args.cols;
  const Random4 random = stream.block(uint64_t(args.first + i) / 4);
  const uint32_t word = random.at[(args.first + i) % 4];
  const float x = to_float(static_cast<const T*>(args.x)[r * args.x_stride + c * args.x_step]);
  const float y = x * (word < dropped_below ? 0 : factor);  // a product, since Inf * 0 is NaN
  static_cast<T*>(args.out)[r * args.out_stride + c * args.out_step] = from_float<T>(y);
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (!(a.p >= 0 && a.p <= 1)) return "p is no probability";
  return is_compute_float(a.dtype) ? kSupported : "dropout takes f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t cuda_stream) {
  const int64_t n = a.rows * a.cols;
  if (n == 0) return Status::ok();
  const Philox stream(a.seed, a.offset);
  return with_float_type(a.dtype, [&](auto t) {
    dropout_thread_per_element<decltype(t)>
        <<<unsigned((n + kThreads - 1) / kThreads), kThreads, 0, cuda_stream>>>(
            a, stream, threshold(a), scale(a));
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "one thread, one element, one call of Philox",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 1, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::dropout::thread_per_element
