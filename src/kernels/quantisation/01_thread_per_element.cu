// quantisation rung 01, thread_per_element: one thread reads one element and adds it to the maximum
// of its block by an atomic; a second launch makes the scales, a third one the elements.
//
// Any format and any shape of blocks: a thread computes which block its element belongs to, and a
//   switch chooses the conversion.
// Stops at: atomics, which meet in one word per block; x is read twice, one element per load.
// Not for: any size. It is what the definition says, and nothing else.
#include "kernels/quantisation/any_format.cuh"
#include "kernels/quantisation/levels.cuh"

namespace ridge::quantisation::thread_per_element {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) quantise_maxima(Args a, Maxima m) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.rows * a.cols) return;
  const int64_t r = i / a.cols, c = i % a.cols;
  atomicMax(m.blocks + block_of(a, r, c), magnitude_bits(load_x(a, r, c)));
}

// One thread per byte of q.
__global__ void __launch_bounds__(kThreads) quantise_elements(Args a, Maxima m) {
  const int64_t byte = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const int each = elements_per_byte(a);
  uint32_t bits = 0;
  for (int e = 0; e < each; ++e) {
    const int64_t i = byte * each + e;
    if (i >= a.rows * a.cols) break;
    const int64_t r = i / a.cols, c = i % a.cols, block = block_of(a, r, c);
    const float scale = a.rule == Rule::mean ? amax_of(m.blocks[block]) : stored_scale(a, block);
    bits |= encoded(a.element, load_x(a, r, c), scale) << 4 * e;
  }
  if (byte * each < a.rows * a.cols) static_cast<uint8_t*>(a.q)[byte] = uint8_t(bits);
}

__global__ void __launch_bounds__(kThreads) dequantise_elements(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.rows * a.cols) return;
  const int64_t r = i / a.cols, c = i % a.cols;
  store_any(a.x, a.dtype, r * a.x_stride + c, weight(a, r, c));
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.rows * a.cols < int64_t(kThreads) << 31 ? kSupported : "starts up to 2^31 blocks";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t n = a.rows * a.cols;
  if (n == 0) return launch_empty(a, stream);
  const auto blocks = [](int64_t threads) { return unsigned((threads + kThreads - 1) / kThreads); };
  if (a.back) {
    dequantise_elements<<<blocks(n), kThreads, 0, stream>>>(a);
    return launch_status();
  }
  if (const Status s = clear_maxima(a, true, stream); !s) return s;
  const int each = elements_per_byte_of(a);
  quantise_maxima<<<blocks(n), kThreads, 0, stream>>>(a, maxima_in(a));
  launch_scales(a, stream);
  quantise_elements<<<blocks((n + each - 1) / each), kThreads, 0, stream>>>(a, maxima_in(a));
  return launch_status();
}
static size_t workspace(const Args& a, const DeviceInfo&) {
  return a.back ? 0 : maxima_bytes(a, true);
}
constinit const Rung rung = {.idea = "one atomic per element finds the maximum of its block",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::quantisation::thread_per_element
