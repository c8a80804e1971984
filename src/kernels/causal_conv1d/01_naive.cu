// causal_conv1d rung 01, naive: one thread per element, straight from the definition.
//
// Stops at: instructions. Every element of x is loaded width times, and backward each gradient is
//   made width times, with all loads for it; one block alone adds up a channel.
// Not for: anything but reading it.
#include "kernels/causal_conv1d/partials.cuh"

namespace ridge::causal_conv1d::naive {

constexpr int kThreads = 256;

template <class T, int kWidth>
struct Row {
  const Args& a;
  Taps<T, kWidth> taps;
  const T *x, *dy;

  __device__ __forceinline__ Row(const Args& args, int64_t row, int64_t channel)
      : a(args),
        taps(args, channel),
        x(static_cast<const T*>(args.x) + row * args.x_stride),
        dy(static_cast<const T*>(args.dy) + row * args.dy_stride) {}
  __device__ __forceinline__ float z(int64_t i) const {
    float before[kWidth];
#pragma unroll
    for (int k = 0; k < kWidth; ++k) before[k] = element(a, x, i - (kWidth - 1) + k);
    return taps.sum(before);
  }
  __device__ __forceinline__ float g(int64_t i) const {
    return i < a.length ? gradient<T>(a, z(i), to_float(dy[i])) : 0.0f;
  }
};

template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads) causal_conv1d_naive(Args a) {
  const Segment segment(a, kThreads);
  const int64_t row = segment.row, i = segment.first + threadIdx.x;
  if (i >= a.length) return;
  const Row<T, kWidth> r(a, row, segment.channel);
  if (!a.backward) {
    static_cast<T*>(a.y)[row * a.y_stride + i] = from_float<T>(activated<T>(a, r.z(i)));
    return;
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kWidth; ++k) sum += r.taps.w[k] * r.g(i + kWidth - 1 - k);
  static_cast<T*>(a.dx)[row * a.dx_stride + i] = from_float<T>(sum);
}

// One block per channel.
template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads) causal_conv1d_naive_sums(Args a) {
  __shared__ float shared[kWidth + 1][kThreads / 32];
  float sums[kWidth + 1] = {};
  for (int64_t batch = 0; batch < a.batch; ++batch) {
    const Row<T, kWidth> r(a, batch * a.channels + blockIdx.x, blockIdx.x);
    for (int64_t i = threadIdx.x; i < a.length; i += kThreads) {
      const float g = r.g(i);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) sums[k] += g * element(a, r.x, i - (kWidth - 1) + k);
      sums[kWidth] += g;
    }
  }
  const float sum = block_sums<kThreads, kWidth>(sums, shared);
  if (threadIdx.x < kWidth) a.dw[blockIdx.x * kWidth + threadIdx.x] = sum;
  else if (threadIdx.x == kWidth) a.dbias[blockIdx.x] = sum;
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_segments(a, kThreads); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_type_and_width(a, [&](auto t, auto width) {
    using T = decltype(t);
    if (const int64_t blocks = a.rows() * segments(a, kThreads))
      causal_conv1d_naive<T, width.value><<<unsigned(blocks), kThreads, 0, stream>>>(a);
    if (a.backward)
      causal_conv1d_naive_sums<T, width.value><<<unsigned(a.channels), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread per element",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::causal_conv1d::naive
