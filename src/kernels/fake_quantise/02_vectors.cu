// fake_quantise rung 02, vectors: each load brings 16 bytes.
//
// Since 01_thread_per_element: a thread has two packs of each input under way. The reciprocal of
//   the scale is made once per pack, and the row is found without a division.
// Stops at: HBM: about ten instructions per element are fewer than there is time for.
// Not for: weights that are used once after it. A product that quantises what it loads saves the
//   traffic.
#include "device/map.cuh"
#include "kernels/fake_quantise/step.cuh"
#include "select/select.h"

namespace ridge::fake_quantise::vectors {

constexpr int kUnroll = 2;
constexpr Tuned kTuned = {2.0, 0.90};  // as measured for activation, which moves the same bytes

template <bool Backward>
struct Apply {
  static constexpr int kIn = Backward ? 2 : 1;
  Args a;
  Divider cols;

  template <int N>
  __device__ __forceinline__ float one(const Step& step, const float (&x)[kIn][N], int i) const {
    return Backward ? step.gradient(a, x[0][i], x[kIn - 1][i]) : step.value(a, x[0][i]);
  }
  template <int N>
  __device__ void many(const float (&x)[kIn][N], float (&y)[1][N], int64_t index) const {
    const int64_t row = a.by_row ? cols.quotient(index) : 0;
    const Step step(a, row);
    if (!a.by_row || row == cols.quotient(index + N - 1)) {
#pragma unroll
      for (int i = 0; i < N; ++i) y[0][i] = one(step, x, i);
    } else {  // a pack across the end of a row
#pragma unroll 1
      for (int i = 0; i < N; ++i) y[0][i] = one(Step(a, cols.quotient(index + i)), x, i);
    }
  }
  __device__ void operator()(const float (&x)[kIn], float (&y)[1], int64_t index) const {
    float in[kIn][1], out[1][1];
#pragma unroll
    for (int k = 0; k < kIn; ++k) in[k][0] = x[k];
    many(in, out, index);
    y[0] = out[0][0];
  }
};

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const Divider cols(a.cols, a.rows * a.cols);
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    if (a.backward) {
      const Map<2, 1> m = {{a.x, a.dy},    {a.out}, {a.x_stride, a.dy_stride},
                           {a.out_stride}, {1, 1},  {1},
                           a.rows,         a.cols};
      return launch_map<T, kUnroll>(m, Apply<true>{a, cols}, stream);
    }
    const Map<1, 1> m = {{a.x}, {a.out}, {a.x_stride}, {a.out_stride}, {1}, {1}, a.rows, a.cols};
    return launch_map<T, kUnroll>(m, Apply<false>{a, cols}, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per load, one reciprocal per pack",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::fake_quantise::vectors
