// activation rung 02, vectors: each load brings 16 bytes.
//
// Since 01_thread_per_element: a thread has two packs of each input under way, and jumps to its
//   function once per pack. Two-byte formats are converted in pairs.
// Stops at: HBM. The most expensive function, gelu in bf16, takes 11 of the 27 instructions for
//   which there is time.
// Not for: an activation after a product or a norm. Fused into that kernel it costs no traffic at
//   all.
#include "device/map.cuh"
#include "kernels/activation/activation.h"
#include "kernels/activation/dispatch.cuh"
#include "select/select.h"

namespace ridge::activation::vectors {

constexpr int kUnroll = 2;
constexpr Tuned kTuned = {2.0, 0.90};

template <class T, bool Backward>
struct Apply {
  static constexpr int kIn = Backward ? 2 : 1;
  Function function;
  activations::Parameters parameters;

  template <int N>
  __device__ void many(const float (&x)[kIn][N], float (&y)[1][N], int64_t) const {
    with_function<T>(function, parameters, [&](auto f) {
#pragma unroll
      for (int i = 0; i < N; ++i)
        y[0][i] = Backward ? f.gradient(x[0][i], x[kIn - 1][i]) : f.value(x[0][i]);
    });
  }
  __device__ void operator()(const float (&x)[kIn], float (&y)[1], int64_t index) const {
    float in[kIn][1], out[1][1];
#pragma unroll
    for (int k = 0; k < kIn; ++k) in[k][0] = x[k];
    many(in, out, index);
    y[0] = out[0][0];
  }
};

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "activations take f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows * a.cols == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    if (a.backward) {
      const Map<2, 1> m = {{a.x, a.dy},
                           {a.out},
                           {a.x_stride, a.dy_stride},
                           {a.out_stride},
                           {a.x_step, a.dy_step},
                           {a.out_step},
                           a.rows,
                           a.cols};
      return launch_map<T, kUnroll>(m, Apply<T, true>{a.function, {a.alpha, a.beta}}, stream);
    }
    const Map<1, 1> m = {{a.x},      {a.out},      {a.x_stride}, {a.out_stride},
                         {a.x_step}, {a.out_step}, a.rows,       a.cols};
    return launch_map<T, kUnroll>(m, Apply<T, false>{a.function, {a.alpha, a.beta}}, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per load, formulas to match",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::activation::vectors
