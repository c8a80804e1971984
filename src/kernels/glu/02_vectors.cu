// glu rung 02, vectors: each load brings 16 bytes.
//
// Since 01_thread_per_element: a thread has four packs under way forward and three backward. The
//   row is found by a product instead of a division, once per pack.
// Stops at: HBM.
// Not for: a gate that comes out of a matrix product, whose epilogue has both halves in registers.
#include "device/map.cuh"
#include "kernels/glu/gate.cuh"
#include "kernels/glu/glu.h"
#include "select/select.h"

namespace ridge::glu::vectors {

constexpr int kUnrollForward = 2;
constexpr int kUnrollBackward = 1;
constexpr Tuned kTuned = {2.0, 0.90};

template <class T>
struct Forward {
  Gate f;

  template <int N>
  __device__ void many(const float (&x)[2][N], float (&y)[1][N], int64_t) const {
    with_gate<T>(f, [&]<class Activation>(Activation) {
#pragma unroll
      for (int i = 0; i < N; ++i) y[0][i] = forward<Activation>(x[0][i], x[1][i]);
    });
  }
  __device__ void operator()(const float (&x)[2], float (&y)[1], int64_t) const {
    with_gate<T>(f, [&]<class Activation>(Activation) { y[0] = forward<Activation>(x[0], x[1]); });
  }
};

template <class T>
struct Backward {
  Gate f;

  template <int N>
  __device__ void many(const float (&x)[3][N], float (&y)[2][N], int64_t) const {
    with_gate<T>(f, [&]<class Activation>(Activation) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const Gradients d = backward<Activation>(x[0][i], x[1][i], x[2][i]);
        y[0][i] = d.gate;
        y[1][i] = d.up;
      }
    });
  }
  __device__ void operator()(const float (&x)[3], float (&y)[2], int64_t) const {
    with_gate<T>(f, [&]<class Activation>(Activation) {
      const Gradients d = backward<Activation>(x[0], x[1], x[2]);
      y[0] = d.gate;
      y[1] = d.up;
    });
  }
};

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "gated units take f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows * a.cols == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    if (a.backward) {
      const Map<3, 2> m = {.in = {a.gate, a.up, a.dy},
                           .out = {a.dgate, a.dup},
                           .in_stride = {a.gate_stride, a.up_stride, a.dy_stride},
                           .out_stride = {a.dgate_stride, a.dup_stride},
                           .in_step = {a.gate_step, a.up_step, a.dy_step},
                           .out_step = {a.dgate_step, a.dup_step},
                           .rows = a.rows,
                           .cols = a.cols};
      return launch_map<T, kUnrollBackward>(m, Backward<T>{a.f}, stream);
    }
    const Map<2, 1> m = {.in = {a.gate, a.up},
                         .out = {a.out},
                         .in_stride = {a.gate_stride, a.up_stride},
                         .out_stride = {a.out_stride},
                         .in_step = {a.gate_step, a.up_step},
                         .out_step = {a.out_step},
                         .rows = a.rows,
                         .cols = a.cols};
    return launch_map<T, kUnrollForward>(m, Forward<T>{a.f}, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per load",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::glu::vectors
