// Strips of an image, down which a warp walks: each lane has 8 pixels of a row. The first and the
// last lane only know pixels for their neighbours.
#pragma once

#include "kernels/image/grid.cuh"

namespace ridge::image {

constexpr int kWarpSize = 32;
constexpr int kWarps = 4;  // of a block
constexpr int kLanePixels = 8;
constexpr int kStrip = (kWarpSize - 2) * kLanePixels;  // written; the outer lanes are halo
constexpr int kLongRun = 64, kShortRun = 16;           // rows that a warp writes; even

// Which strips and runs of rows there are, one of each per warp.
struct Strips {
  int64_t strips, runs;
  int run;
  bool aligned;  // all rows are at multiples of what a lane has

  Strips(const Args& a, const DeviceInfo& device) : strips((a.width + kStrip - 1) / kStrip) {
    // Long runs waste fewer rows on their halo, but there must be enough of them.
    const int64_t long_warps = strips * ((a.height + kLongRun - 1) / kLongRun);
    run = long_warps >= int64_t(device.sm_count) * 4 * kWarps ? kLongRun : kShortRun;
    runs = (a.height + run - 1) / run;
    const auto is_even = [](int64_t bytes) { return bytes % kLanePixels == 0; };
    aligned = is_even(int64_t(reinterpret_cast<uintptr_t>(a.in))) &&
              is_even(int64_t(reinterpret_cast<uintptr_t>(a.out))) && is_even(a.in_stride) &&
              is_even(a.out_stride);
  }
  unsigned blocks() const { return unsigned((strips * runs + kWarps - 1) / kWarps); }
};

// Eight pixels of the row, from x, which may be partly outside.
template <bool Aligned>
__device__ __forceinline__ uint2 load_pixels(const Args& a, const uint8_t* row, int64_t x) {
  const uint8_t* p = row + x;
  if (x >= 0 && x + kLanePixels <= a.width) {
    if (Aligned) return __ldg(reinterpret_cast<const uint2*>(p));
    const uint32_t offset = uint32_t(reinterpret_cast<uintptr_t>(p) % 4);
    const uint8_t* const begin = static_cast<const uint8_t*>(a.in);
    const uint8_t* const end = begin + (a.height - 1) * a.in_stride + a.width;
    const uint32_t* words = reinterpret_cast<const uint32_t*>(p - offset);
    if (offset == 0) return make_uint2(__ldg(words), __ldg(words + 1));
    if (p - offset >= begin && p - offset + 12 <= end) {
      const uint32_t w0 = __ldg(words), w1 = __ldg(words + 1), w2 = __ldg(words + 2);
      return make_uint2(__funnelshift_r(w0, w1, offset * 8), __funnelshift_r(w1, w2, offset * 8));
    }
  }
  uint64_t pixels = 0;
  for (int i = kLanePixels - 1; i >= 0; --i) pixels = pixels << 8 | row[clamped(x + i, a.width)];
  return make_uint2(uint32_t(pixels), uint32_t(pixels >> 32));
}

// Eight pixels of the row from x on. `last`: the strip's last lane that writes.
template <bool Aligned>
__device__ __forceinline__ void store_pixels(uint8_t* row, int64_t x, int64_t width, uint2 pixels,
                                             int lane, bool is_inside) {
  uint8_t* p = row + x;
  if (Aligned && is_inside) {
    if (lane > 0 && lane < kWarpSize - 1) *reinterpret_cast<uint2*>(p) = pixels;
    return;
  }
  if (is_inside) {  // words across the lanes' borders, so that the stores are aligned
    const uint32_t offset = uint32_t(reinterpret_cast<uintptr_t>(p) % 4);
    const uint32_t before = __shfl_up_sync(~0u, pixels.y, 1);
    if (lane == 0 || lane == kWarpSize - 1) return;
    uint32_t* words = reinterpret_cast<uint32_t*>(p - offset);
    if (lane > 1 || offset == 0) words[0] = __funnelshift_l(before, pixels.x, offset * 8);
    else
      for (uint32_t i = 0; i < 4 - offset; ++i) p[i] = uint8_t(pixels.x >> (8 * i));
    words[1] = __funnelshift_l(pixels.x, pixels.y, offset * 8);
    if (lane == kWarpSize - 2)
      for (uint32_t i = 4 - offset; i < 4; ++i) p[4 + i] = uint8_t(pixels.y >> (8 * i));
    return;
  }
  if (lane == 0 || lane == kWarpSize - 1) return;
  const uint64_t all = uint64_t(pixels.y) << 32 | pixels.x;
  for (int i = 0; i < kLanePixels && x + i < width; ++i) p[i] = uint8_t(all >> (8 * i));
}

}  // namespace ridge::image
