// How the outputs of a convolution are dealt out to blocks: a block has a box of pixels of one
// image and a few filters of one group.
#pragma once

#include <algorithm>

#include "device/convert.cuh"
#include "device/divide.cuh"
#include "kernels/conv/conv.h"

namespace ridge::conv {

constexpr int kThreads = 256;

// Boxes have powers of 2 as sizes, so a thread finds its pixel with shifts.
struct Boxes {
  int shift[kDirections];   // log2 of a box's sizes
  int across[kDirections];  // boxes of an image
  int filters;              // of a block
  int64_t blocks;

  __host__ __device__ int size(int d) const { return 1 << shift[d]; }
};

// Boxes of 256 `pixels_per_thread` pixels: 32 wide, since a warp reads along the width; then 8
// high, or 4 where there is a depth, because the halo of a flat box is large. What is left over
// goes to the directions that have room.
inline Boxes boxes_of(const Args& a, int pixels_per_thread, int filters) {
  Boxes b = {.shift = {}, .across = {}, .filters = filters, .blocks = a.batch};
  int left = 8;
  for (int n = pixels_per_thread; n > 1; n /= 2) ++left;
  const bool is_deep = a.along[0].out > 1;
  const int most[] = {10, is_deep ? 2 : 10, 5};
  const auto grow = [&](int d, int to) {
    while (left > 0 && b.shift[d] < to && b.size(d) < a.along[d].out) ++b.shift[d], --left;
  };
  for (const int d : {2, 1, 0}) grow(d, most[d]);
  for (const int d : {2, 1, 0}) grow(d, 30);
  b.shift[2] += left;
  for (int d = 0; d < kDirections; ++d) {
    b.across[d] = (a.along[d].out + b.size(d) - 1) / b.size(d);
    b.blocks *= b.across[d];
  }
  b.blocks *= int64_t(a.groups) * ((a.group_filters + filters - 1) / filters);
  return b;
}

// What a block works on.
struct Place {
  int image, group;
  int filter, filters;   // the first of the block, and how many it has
  int out[kDirections];  // the first pixel of its box
};

__device__ __forceinline__ Place place_of(const Args& a, const Boxes& b) {
  Place place;
  int rest = int(blockIdx.x);
#pragma unroll
  for (int d = kDirections - 1; d >= 0; --d) {
    place.out[d] = rest % b.across[d] << b.shift[d];
    rest /= b.across[d];
  }
  const int of_group = (a.group_filters + b.filters - 1) / b.filters;
  const int first = rest % of_group * b.filters;
  rest /= of_group;
  place.group = rest % a.groups;
  place.image = rest / a.groups;
  place.filter = place.group * a.group_filters + first;
  place.filters = min(b.filters, a.group_filters - first);
  return place;
}

// Pixel `i` of a box, counted along the width first.
struct Pixel {
  int out[kDirections];
};
__device__ __forceinline__ Pixel pixel_of(const Boxes& b, const Place& place, int i) {
  const int row = i >> b.shift[2];
  return {{place.out[0] + (row >> b.shift[1]), place.out[1] + (row & (b.size(1) - 1)),
           place.out[2] + (i & (b.size(2) - 1))}};
}
__device__ __forceinline__ bool is_inside(const Args& a, const Pixel& p) {
  return p.out[0] < a.along[0].out && p.out[1] < a.along[1].out && p.out[2] < a.along[2].out;
}

// The first element of an image's group, from which a kernel goes on by channels and pixels.
template <class T>
__device__ __forceinline__ const T* image_of(const Args& a, int image, int group) {
  return static_cast<const T*>(a.x) + image * a.x_steps.batch +
         int64_t(group) * a.group_channels * a.x_steps.channel;
}

// An input of one channel; 0 outside of the image.
template <class T>
__device__ __forceinline__ float input_at(const Args& a, const T* channel, int z, int y, int x) {
  const bool inside = unsigned(z) < unsigned(a.along[0].in) &&
                      unsigned(y) < unsigned(a.along[1].in) &&
                      unsigned(x) < unsigned(a.along[2].in);
  return inside ? to_float(channel[z * a.x_steps.at[0] + y * a.x_steps.at[1] + x * a.x_steps.at[2]])
                : 0.0f;
}

template <class T>
__device__ __forceinline__ float bias_of(const Args& a, int filter) {
  return a.bias ? to_float(static_cast<const T*>(a.bias)[filter]) : 0.0f;
}

template <class T>
__device__ __forceinline__ void put(const Args& a, int image, int filter, const Pixel& p,
                                    float sum) {
  static_cast<T*>(
      a.y)[image * a.y_steps.batch + filter * a.y_steps.channel + p.out[0] * a.y_steps.at[0] +
           p.out[1] * a.y_steps.at[1] + p.out[2] * a.y_steps.at[2]] = from_float<T>(sum);
}

// Why boxes cannot do it; nothing, if they can.
inline Support supports_boxes(const Args& a, const Boxes& b) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  return b.blocks < int64_t(1) << 31 ? kSupported : "takes fewer than 2^31 blocks";
}

}  // namespace ridge::conv
