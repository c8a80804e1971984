// vector_add rung 01, thread_per_element: the first kernel everybody writes.
//
// Stops at: bytes in flight. A warp asks for 128 bytes at a time (64 in two-byte formats), and a
//   thread waits for its two numbers with nothing else to do.
// Not for: two-byte formats above all: a request brings only half of what it could.
#include "device/convert.cuh"
#include "kernels/vector_add/vector_add.h"

namespace ridge::vector_add::thread_per_element {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) vector_add_thread_per_element(Args args) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.rows * args.cols) return;
  const int64_t r = i / args.cols, c = i % args.cols;
  const float a = to_float(static_cast<const T*>(args.a)[r * args.a_stride + c * args.a_step]);
  const float b = to_float(static_cast<const T*>(args.b)[r * args.b_stride + c * args.b_step]);
  static_cast<T*>(args.out)[r * args.out_stride + c * args.out_step] = from_float<T>(a + b);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "adds f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t n = a.rows * a.cols;
  if (n == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    vector_add_thread_per_element<decltype(t)>
        <<<unsigned((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "one thread, one element",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 2, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::vector_add::thread_per_element
