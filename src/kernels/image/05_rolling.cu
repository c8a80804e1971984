// image rung 05, rolling: a warp walks down a strip and keeps everything in registers.
//
// Since 04_separable: a lane holds 8 pixels of a row as two words and gets those of its neighbours
//   by shuffles. Sums along rows are dot products of four bytes, three per pixel. They stay in
//   registers as pairs of rows, and sums along columns are dot products of two such halves, five
//   per pixel. Rows are loaded 8 ahead. There is no shared memory and no barrier.
// Stops at: dot products, eight per pixel; then HBM.
// Not for: images narrower than the strip of a warp, or with so few rows that little is shared; and
//   filters wider than what a lane's neighbour holds.
#include "kernels/image/strip.cuh"
#include "select/select.h"

namespace ridge::image::rolling {

constexpr int kPairs = 5;  // of rows that a window of 9 touches
constexpr Tuned kTuned = {4.0, 0.27};

// Weights for the four bytes of word `word` of three, for the pixel at `phase` in the middle one.
template <Op op>
__host__ __device__ constexpr uint32_t row_weights(int phase, int word) {
  uint32_t weights = 0;
  for (int byte = 0; byte < 4; ++byte) {
    const int tap = word * 4 + byte - phase;
    if (tap >= 0 && tap < kTaps) weights |= uint32_t(weight_of(op, tap)) << (8 * byte);
  }
  return weights;
}
// Weights for the two rows of pair `pair`, for the output row at `phase` (0, 1) in the first.
template <Op op>
__host__ __device__ constexpr uint32_t column_weights(int phase, int pair) {
  uint32_t weights = 0;
  for (int half = 0; half < 2; ++half) {
    const int tap = pair * 2 + half - phase;
    if (tap >= 0 && tap < kTaps) weights |= uint32_t(weight_of(op, tap)) << (8 * half);
  }
  return weights;
}

template <Op op, bool Aligned>
__global__ void __launch_bounds__(kWarps* kWarpSize)
    blur_rolling(Args a, int64_t strips, int64_t runs, int run) {
  const int lane = threadIdx.x % kWarpSize;
  const int64_t warp = int64_t(blockIdx.x) * kWarps + threadIdx.x / kWarpSize;
  if (warp >= strips * runs) return;  // uniform per warp: the shuffles below are full
  const int64_t strip = warp % strips;
  const int64_t y0 = warp / strips * run;
  const int64_t x = strip * kStrip + (lane - 1) * kLanePixels;
  const bool is_inside = (strip + 1) * kStrip <= a.width;
  const int rows = int(min(int64_t(run), a.height - y0));
  const auto load = [&](int row) {  // of the window, which starts kRadius above the first output
    const int64_t y = clamped(y0 - kRadius + row, a.height);
    return load_pixels<Aligned>(a, static_cast<const uint8_t*>(a.in) + y * a.in_stride, x);
  };

  // In rings of five, indexed by constants: the loop below is five pairs long.
  uint2 ahead[kPairs][2];              // rows on their way
  uint32_t pair[kPairs][kLanePixels];  // sums along two rows, one in each half
#pragma unroll
  for (int k = 0; k < kPairs - 1; ++k)
#pragma unroll
    for (int half = 0; half < 2; ++half) ahead[k][half] = load(2 * k + half);

  const int pairs = (rows + 2 * kRadius + 1) / 2;
  for (int first = 0; first < pairs; first += kPairs) {
#pragma unroll
    for (int u = 0; u < kPairs; ++u) {
      const int k = first + u;
      if (k >= pairs) break;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (k + kPairs - 1 < pairs)
          ahead[(u + kPairs - 1) % kPairs][half] = load(2 * (k + kPairs - 1) + half);
        const uint2 mine = ahead[u][half];
        const uint32_t word[4] = {__shfl_up_sync(~0u, mine.y, 1), mine.x, mine.y,
                                  __shfl_down_sync(~0u, mine.x, 1)};
#pragma unroll
        for (int i = 0; i < kLanePixels; ++i) {
          uint32_t sum = 0;
#pragma unroll
          for (int w = 0; w < 3; ++w) sum = __dp4a(word[i / 4 + w], row_weights<op>(i % 4, w), sum);
          pair[u][i] = half == 0 ? sum : pair[u][i] + (sum << 16);
        }
      }
      if (k < kPairs - 1) continue;
#pragma unroll
      for (int phase = 0; phase < 2; ++phase) {
        const int r = 2 * (k - kPairs + 1) + phase;
        if (r >= rows) break;
        uint32_t packed[2] = {0, 0};
#pragma unroll
        for (int i = 0; i < kLanePixels; ++i) {
          uint32_t sum = 0;
#pragma unroll
          for (int q = 0; q < kPairs; ++q)
            sum = __dp2a_lo(pair[(u + 1 + q) % kPairs][i], column_weights<op>(phase, q), sum);
          packed[i / 4] |= finished(op, sum) << (8 * (i % 4));
        }
        uint8_t* out = static_cast<uint8_t*>(a.out) + (y0 + r) * a.out_stride;
        store_pixels<Aligned>(out, x, a.width, make_uint2(packed[0], packed[1]), lane, is_inside);
      }
    }
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.dtype != Dtype::u8) return "images are of bytes";
  return is_blur(a.op) ? kSupported : "needs no pixel but its own";
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.height * a.width == 0) return Status::ok();
  const Strips walk(a, device);
  return with_blur(a.op, [&](auto op) {
    constexpr Op kOp = decltype(op)::value;
    const auto kernel = walk.aligned ? blur_rolling<kOp, true> : blur_rolling<kOp, false>;
    kernel<<<walk.blocks(), kWarps * kWarpSize, 0, stream>>>(a, walk.strips, walk.runs, walk.run);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "down a strip in registers, sums by dot products",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::image::rolling
