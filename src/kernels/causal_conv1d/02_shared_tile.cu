// causal_conv1d rung 02, shared_tile: a segment of the row is in shared memory, with its halo.
//
// Since 01_naive: each element is loaded once, and backward each gradient is made once, by one
//   thread, and found in shared memory by those that need it. Every block adds up its own segment;
//   a second kernel adds the segments of a channel.
// Stops at: instructions: elements come one by one, and width reads of shared memory for each.
// Not for: halos as short as these. Registers hold them, too (03), without a barrier.
#include "kernels/causal_conv1d/partials.cuh"

namespace ridge::causal_conv1d::shared_tile {

constexpr int kThreads = 256, kElements = 1024;

template <class T, int kWidth>
__global__ void __launch_bounds__(kThreads) causal_conv1d_shared_tile(Args a) {
  constexpr int kHalo = kWidth - 1;
  __shared__ float x[kHalo + kElements + kHalo];  // from kHalo before the segment on
  __shared__ float g[kElements + kHalo];
  __shared__ float shared[kWidth + 1][kThreads / 32];
  const Segment segment(a, kElements);
  const int64_t row = segment.row, first = segment.first;
  const Taps<T, kWidth> taps(a, segment.channel);
  const T* const from = static_cast<const T*>(a.x) + row * a.x_stride;
  const int more = a.backward ? kHalo : 0;  // gradients of the next segment's first elements
  for (int i = int(threadIdx.x); i < kHalo + kElements + more; i += kThreads)
    x[i] = element(a, from, first + i - kHalo);
  __syncthreads();
  if (!a.backward) {
    T* const y = static_cast<T*>(a.y) + row * a.y_stride;
    for (int i = int(threadIdx.x); i < kElements && first + i < a.length; i += kThreads)
      y[first + i] = from_float<T>(activated<T>(a, taps.sum(x + i)));
    return;
  }
  const T* const dy = static_cast<const T*>(a.dy) + row * a.dy_stride;
  for (int i = int(threadIdx.x); i < kElements + kHalo; i += kThreads)
    g[i] = first + i < a.length ? gradient<T>(a, taps.sum(x + i), to_float(dy[first + i])) : 0.0f;
  __syncthreads();
  T* const dx = static_cast<T*>(a.dx) + row * a.dx_stride;
  float sums[kWidth + 1] = {};
  for (int i = int(threadIdx.x); i < kElements && first + i < a.length; i += kThreads) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      sum += taps.w[k] * g[i + kHalo - k];
      sums[k] += g[i] * x[i + k];
    }
    sums[kWidth] += g[i];
    dx[first + i] = from_float<T>(sum);
  }
  const float sum = block_sums<kThreads, kWidth>(sums, shared);
  if (threadIdx.x <= kWidth)
    static_cast<float*>(a.workspace)[int64_t(blockIdx.x) * (kWidth + 1) + threadIdx.x] = sum;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return supports_segments(a, kElements);
}
static size_t workspace(const Args& a, const DeviceInfo&) { return partials_bytes(a, kElements); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_type_and_width(a, [&](auto t, auto width) {
    if (const int64_t blocks = a.rows() * segments(a, kElements))
      causal_conv1d_shared_tile<decltype(t), width.value>
          <<<unsigned(blocks), kThreads, 0, stream>>>(a);
    if (a.backward) launch_finish<width.value>(a, kElements, stream);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "a segment with its halo in shared memory",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.global_stores_per_element = 1, .conflict_free = true}};

}  // namespace ridge::causal_conv1d::shared_tile
