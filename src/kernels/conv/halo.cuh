// The inputs of a box of pixels with the halo around them, in shared memory, as f32.
#pragma once

#include "kernels/conv/boxes.cuh"

namespace ridge::conv {

struct Halo {
  int extent[kDirections];
  int size;  // inputs of one channel
  Divider by_width, by_height;
};

inline int64_t halo_size(const Args& a, const Boxes& b) {
  int64_t size = 1;
  for (int d = 0; d < kDirections; ++d) {
    size *= a.along[d].reach(b.size(d));
    if (size > 1 << 20) return 1 << 20;  // more than any shared memory holds
  }
  return size;
}

// The caller has seen that it fits.
inline Halo halo_of(const Args& a, const Boxes& b) {
  Halo halo;
  for (int d = 0; d < kDirections; ++d) halo.extent[d] = int(a.along[d].reach(b.size(d)));
  halo.size = halo.extent[0] * halo.extent[1] * halo.extent[2];
  halo.by_width = Divider(halo.extent[2], halo.size);
  halo.by_height = Divider(halo.extent[1], halo.size);
  return halo;
}

// Brings one channel; all threads of the block take part.
template <class T>
__device__ __forceinline__ void load_halo(const Args& a, const Halo& halo, const Place& place,
                                          const T* channel, float* tile) {
  const int z = a.along[0].first(place.out[0]), y = a.along[1].first(place.out[1]),
            x = a.along[2].first(place.out[2]);
  for (int i = int(threadIdx.x); i < halo.size; i += kThreads) {
    const int row = int(halo.by_width.quotient(i)), plane = int(halo.by_height.quotient(row));
    tile[i] = input_at(a, channel, z + plane, y + row - plane * halo.extent[1],
                       x + i - row * halo.extent[2]);
  }
}

// Where the first tap of pixel `i` of the box is in the tile.
__device__ __forceinline__ int in_halo(const Args& a, const Boxes& b, const Halo& halo, int i) {
  const int row = i >> b.shift[2];
  return ((row >> b.shift[1]) * a.along[0].stride * halo.extent[1] +
          (row & (b.size(1) - 1)) * a.along[1].stride) *
             halo.extent[2] +
         (i & (b.size(2) - 1)) * a.along[2].stride;
}

// Calls f(tap, offset) for every tap, with its distance from the first one in the tile.
template <class F>
__device__ __forceinline__ void for_taps(const Args& a, const Halo& halo, F f) {
  int tap = 0;
  for (int z = 0; z < a.along[0].kernel; ++z)
    for (int y = 0; y < a.along[1].kernel; ++y) {
      const int row =
          (z * a.along[0].dilation * halo.extent[1] + y * a.along[1].dilation) * halo.extent[2];
      for (int x = 0; x < a.along[2].kernel; ++x, ++tap) f(tap, row + x * a.along[2].dilation);
    }
}

}  // namespace ridge::conv
