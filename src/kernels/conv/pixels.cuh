// The pixels of all images as one row: what an implicit matrix product has as columns.
#pragma once

#include "kernels/conv/boxes.cuh"

namespace ridge::conv {

struct Pixels {
  int count;  // of all images
  Divider by[kDirections];

  struct At {
    int image;
    Pixel pixel;
  };
  __device__ __forceinline__ At at(int index) const {
    At found;
#pragma unroll
    for (int d = kDirections - 1; d >= 0; --d) {
      const int next = int(by[d].quotient(index));
      found.pixel.out[d] = index - next * int(by[d].divisor());
      index = next;
    }
    found.image = index;
    return found;
  }
};

inline int64_t count_pixels(const Args& a) { return a.batch * a.pixels(); }

inline Pixels pixels_of(const Args& a) {
  Pixels pixels = {.count = int(count_pixels(a)), .by = {}};
  for (int d = 0; d < kDirections; ++d)
    pixels.by[d] = Divider(a.along[d].out, int64_t(pixels.count) + 1);
  return pixels;
}

}  // namespace ridge::conv
