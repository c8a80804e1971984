// causal_conv1d rung 03, vectors: one pack of 16 bytes per thread, its halo in registers.
//
// Since 02_shared_tile: a thread loads the pack before its own, too, and backward the one behind:
//   they come from L1, since a neighbour needs them as well. Nothing goes through shared memory but
//   the sums of the gradients, and one instruction brings 4 or 8 elements.
// Stops at: the bandwidth of the memory.
// Not for: filters wider than a pack.
#include "device/convert_pack.cuh"
#include "kernels/causal_conv1d/partials.cuh"
#include "select/select.h"

namespace ridge::causal_conv1d::vectors {

constexpr int kThreads = 128;
// Not timed on a GPU yet: the share that the model of time gives.
constexpr Tuned kTuned = {4.0, 0.8};

template <class T>
constexpr int kElements = kThreads* kPackSize<T>;

// Elements i … of a row, zeros outside of it. `i` is a multiple of the pack, `aligned` the row.
template <class T>
__device__ __forceinline__ void load(const Args& a, const T* row, bool aligned, int64_t i,
                                     float* to) {
  constexpr int kSize = kPackSize<T>;
  float x[kSize];
  if (aligned && i >= 0 && i + kSize <= a.length) {
    to_floats(load_pack(row + i), x);
  } else {
#pragma unroll
    for (int k = 0; k < kSize; ++k) x[k] = element(a, row, i + k);
  }
#pragma unroll
  for (int k = 0; k < kSize; ++k) to[k] = x[k];
}
template <class T>
__device__ __forceinline__ void store(const Args& a, T* row, int64_t i,
                                      const float (&x)[kPackSize<T>]) {
  if (is_pack_aligned(row) && i + kPackSize<T> <= a.length) {
    store_pack(row + i, from_floats<T>(x));
  } else {
#pragma unroll
    for (int k = 0; k < kPackSize<T>; ++k)
      if (i + k < a.length) row[i + k] = from_float<T>(x[k]);
  }
}

template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads) causal_conv1d_vectors(Args a) {
  constexpr int kSize = kPackSize<T>;
  const Segment segment(a, kElements<T>);
  const int64_t row = segment.row, i = segment.first + threadIdx.x * kSize;
  if (i >= a.length) return;
  const T* const from = static_cast<const T*>(a.x) + row * a.x_stride;
  const bool aligned = is_pack_aligned(from);
  float x[2 * kSize], y[kSize];
  load(a, from, aligned, i - kSize, x);
  load(a, from, aligned, i, x + kSize);
  const Taps<T, kWidth> taps(a, segment.channel);
#pragma unroll
  for (int k = 0; k < kSize; ++k) y[k] = activated<T>(a, taps.sum(x + kSize - (kWidth - 1) + k));
  store(a, static_cast<T*>(a.y) + row * a.y_stride, i, y);
}

template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads) causal_conv1d_vectors_backward(Args a) {
  constexpr int kSize = kPackSize<T>, kHalo = kWidth - 1;
  __shared__ float shared[kWidth + 1][kThreads / 32];
  const Segment segment(a, kElements<T>);
  const int64_t row = segment.row, i = segment.first + threadIdx.x * kSize;
  float sums[kWidth + 1] = {};
  if (i < a.length) {
    const T* const from = static_cast<const T*>(a.x) + row * a.x_stride;
    const T* const of_dy = static_cast<const T*>(a.dy) + row * a.dy_stride;
    const bool aligned = is_pack_aligned(from), dy_aligned = is_pack_aligned(of_dy);
    float x[3 * kSize], dy[2 * kSize], g[kSize + kHalo], dx[kSize];
    load(a, from, aligned, i - kSize, x);
    load(a, from, aligned, i, x + kSize);
    load(a, from, aligned, i + kSize, x + 2 * kSize);
    load(a, of_dy, dy_aligned, i, dy);
    load(a, of_dy, dy_aligned, i + kSize, dy + kSize);
    const Taps<T, kWidth> taps(a, segment.channel);
#pragma unroll
    for (int k = 0; k < kSize + kHalo; ++k)
      g[k] = i + k < a.length ? gradient<T>(a, taps.sum(x + kSize - kHalo + k), dy[k]) : 0.0f;
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      dx[k] = 0;
#pragma unroll
      for (int tap = 0; tap < kWidth; ++tap) {
        dx[k] += taps.w[tap] * g[k + kHalo - tap];
        sums[tap] += g[k] * x[kSize - kHalo + k + tap];
      }
      sums[kWidth] += g[k];
    }
    store(a, static_cast<T*>(a.dx) + row * a.dx_stride, i, dx);
  }
  const float sum = block_sums<kThreads, kWidth>(sums, shared);
  if (threadIdx.x <= kWidth)
    static_cast<float*>(a.workspace)[int64_t(blockIdx.x) * (kWidth + 1) + threadIdx.x] = sum;
}

static int elements(const Args& a) { return kThreads * kPackBytes / int(size_of(a.dtype)); }
static Support supports(const Args& a, const DeviceInfo&) {
  return supports_segments(a, elements(a));
}
static size_t workspace(const Args& a, const DeviceInfo&) { return partials_bytes(a, elements(a)); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_type_and_width(a, [&](auto t, auto width) {
    using T = decltype(t);
    const int64_t blocks = a.rows() * segments(a, elements(a));
    if (a.backward) {
      if (blocks > 0)
        causal_conv1d_vectors_backward<T, width.value>
            <<<unsigned(blocks), kThreads, 0, stream>>>(a);
      launch_finish<width.value>(a, elements(a), stream);
    } else {
      causal_conv1d_vectors<T, width.value><<<unsigned(blocks), kThreads, 0, stream>>>(a);
    }
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device) + (a.backward ? kTuned.fixed_us : 0);
}
constinit const Rung rung = {.idea = "one pack per thread, its halo in registers",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.global_stores_per_element = 0.25, .barriers = 0}};

}  // namespace ridge::causal_conv1d::vectors
