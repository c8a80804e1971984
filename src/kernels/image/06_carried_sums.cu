// image rung 06, carried_sums: the sums of columns are carried from one row to the next.
//
// Since 05_rolling: where all weights are equal, a row of column sums follows from the one above
//   it: the row that comes in is added, and the one that leaves is taken away, whatever the size of
//   the window. Two sums share a register, 16 bits each, so 8 pixels take 8 additions; the sums of
//   9 columns are made of sums of 4, as pairs as well. Dot products, of which an SM does half as
//   many per clock as additions, are gone.
// Stops at: the bandwidth of the memory; near it, at instructions, about ten per pixel.
// Not for: weights that differ, such as those of a gaussian, whose sums along rows need 24 bits;
//   and floating-point pixels, where what is added and taken away again leaves its rounding behind.
#include "kernels/image/strip.cuh"
#include "select/select.h"

namespace ridge::image::carried_sums {

constexpr int kAhead = 4;  // rows on their way
// Not timed on a GPU yet: the share that the model of time gives.
constexpr Tuned kTuned = {4.0, 0.45};

// The mean of 81 pixels as the top byte of a product: the factor is 2^24 / 81, rounded up, and
// (sum + 40) times it is under 2^32 for every sum there is.
constexpr unsigned kFactor = ((1u << 24) + 80) / 81, kHalf = kTaps * kTaps / 2;
constexpr bool all_means_are_exact() {
  for (unsigned sum = 0; sum <= 255 * kTaps * kTaps; ++sum)
    if ((sum + kHalf) * kFactor >> 24 != finished(Op::blur_box, sum)) return false;
  return true;
}
static_assert(all_means_are_exact());

// Columns 4k … 4k + 3 as two pairs: (0, 2) and (1, 3).
struct Quad {
  uint32_t even, odd;
};
__device__ __forceinline__ Quad split(uint32_t pixels) {
  return {pixels & 0x00ff00ffu, pixels >> 8 & 0x00ff00ffu};
}
__device__ __forceinline__ Quad shuffled(const Quad& q, bool up) {
  return up ? Quad{__shfl_up_sync(~0u, q.even, 1), __shfl_up_sync(~0u, q.odd, 1)}
            : Quad{__shfl_down_sync(~0u, q.even, 1), __shfl_down_sync(~0u, q.odd, 1)};
}
// The upper half of one register and the lower half of the next.
__device__ __forceinline__ uint32_t between(uint32_t first, uint32_t second) {
  return __byte_perm(first, second, 0x5432);
}
// Sums of four columns, from columns 0 and 2 of the first quad on.
__device__ __forceinline__ uint32_t four(const Quad& first, const Quad& second) {
  return first.even + first.odd + between(first.even, second.even) + between(first.odd, second.odd);
}
// Four means from the sums of columns (0, 2) and (1, 3).
__device__ __forceinline__ uint32_t means(uint32_t even, uint32_t odd) {
  const uint32_t a = ((even & 0xffff) + kHalf) * kFactor, c = ((even >> 16) + kHalf) * kFactor;
  const uint32_t b = ((odd & 0xffff) + kHalf) * kFactor, d = ((odd >> 16) + kHalf) * kFactor;
  return __byte_perm(__byte_perm(a, b, 0x0073), __byte_perm(c, d, 0x0073), 0x5410);
}

template <bool Aligned>
__global__ void __launch_bounds__(kWarps* kWarpSize)
    blur_carried_sums(Args a, int64_t strips, int64_t runs, int run) {
  const int lane = threadIdx.x % kWarpSize;
  const int64_t warp = int64_t(blockIdx.x) * kWarps + threadIdx.x / kWarpSize;
  if (warp >= strips * runs) return;  // uniform per warp: the shuffles below are full
  const int64_t strip = warp % strips, y0 = warp / strips * run;
  const int64_t x = strip * kStrip + (lane - 1) * kLanePixels;
  const bool is_inside = (strip + 1) * kStrip <= a.width;
  const int window = int(min(int64_t(run), a.height - y0)) + 2 * kRadius;  // rows that are read
  const auto load = [&](int row) {  // the first is kRadius above the first output
    if (row < 0 || row >= window) return make_uint2(0, 0);
    const int64_t y = clamped(y0 - kRadius + row, a.height);
    return load_pixels<Aligned>(a, static_cast<const uint8_t*>(a.in) + y * a.in_stride, x);
  };
  uint2 comes[kAhead], leaves[kAhead];
#pragma unroll
  for (int u = 0; u < kAhead; ++u) {
    comes[u] = load(u);
    leaves[u] = load(u - kTaps);
  }
  Quad left = {}, right = {};  // sums of this lane's 8 columns
  for (int first = 0; first < window; first += kAhead) {
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const int row = first + u;
      if (row >= window) break;
      const Quad in[] = {split(comes[u].x), split(comes[u].y)};
      const Quad out[] = {split(leaves[u].x), split(leaves[u].y)};
      comes[u] = load(row + kAhead);
      leaves[u] = load(row + kAhead - kTaps);
      left = {left.even + in[0].even - out[0].even, left.odd + in[0].odd - out[0].odd};
      right = {right.even + in[1].even - out[1].even, right.odd + in[1].odd - out[1].odd};
      if (row < 2 * kRadius) continue;
      const Quad before = shuffled(right, true), behind = shuffled(left, false);
      // Sums of columns -4 … 4 and -2 … 6, and so on; one to the right, a column comes and one
      // goes.
      const uint32_t middle = four(left, right);
      const uint32_t sum0 = four(before, left) + middle + right.even;
      const uint32_t sum4 = middle + four(right, behind) + behind.even;
      const uint32_t sum1 = sum0 + right.odd - before.even;
      const uint32_t sum5 = sum4 + behind.odd - left.even;
      uint8_t* const to = static_cast<uint8_t*>(a.out) + (y0 + row - 2 * kRadius) * a.out_stride;
      store_pixels<Aligned>(to, x, a.width, make_uint2(means(sum0, sum1), means(sum4, sum5)), lane,
                            is_inside);
    }
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.dtype != Dtype::u8) return "images are of bytes";
  return a.op == Op::blur_box ? kSupported : "carries sums of equal weights";
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.height * a.width == 0) return Status::ok();
  const Strips walk(a, device);
  const auto kernel = walk.aligned ? blur_carried_sums<true> : blur_carried_sums<false>;
  kernel<<<walk.blocks(), kWarps * kWarpSize, 0, stream>>>(a, walk.strips, walk.runs, walk.run);
  return launch_status();
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "sums of columns carried down, two in one register",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::image::carried_sums
