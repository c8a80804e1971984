// glu rung 01, thread_per_element: gate, activation and product in one kernel, one thread per
// element.
//
// Stops at: bytes in flight: each load brings 4 (or 2) bytes per lane. Also at the division that
//   finds the row.
// Not for: anything but learning.
#include "device/convert.cuh"
#include "kernels/glu/gate.cuh"
#include "kernels/glu/glu.h"

namespace ridge::glu::thread_per_element {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) glu_thread_per_element(Args args) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.rows * args.cols) return;
  const int64_t r = i / args.cols, c = i % args.cols;
  const float gate =
      to_float(static_cast<const T*>(args.gate)[r * args.gate_stride + c * args.gate_step]);
  const float up = to_float(static_cast<const T*>(args.up)[r * args.up_stride + c * args.up_step]);
  with_gate<T>(args.f, [&]<class Activation>(Activation) {
    if (!args.backward) {
      static_cast<T*>(args.out)[r * args.out_stride + c * args.out_step] =
          from_float<T>(forward<Activation>(gate, up));
      return;
    }
    const float dy =
        to_float(static_cast<const T*>(args.dy)[r * args.dy_stride + c * args.dy_step]);
    const Gradients d = backward<Activation>(gate, up, dy);
    static_cast<T*>(args.dgate)[r * args.dgate_stride + c * args.dgate_step] =
        from_float<T>(d.gate);
    static_cast<T*>(args.dup)[r * args.dup_stride + c * args.dup_step] = from_float<T>(d.up);
  });
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "gated units take f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t n = a.rows * a.cols;
  if (n == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    glu_thread_per_element<decltype(t)>
        <<<unsigned((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one element; all in one kernel",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::glu::thread_per_element
