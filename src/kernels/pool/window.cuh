// What the rungs share: windows, and which of them an element of x is in.
#pragma once

#include "kernels/conv/boxes.cuh"
#include "kernels/pool/pool.h"

namespace ridge::pool {

using conv::kDirections;
using conv::kThreads;

// Boxes of outputs, or backward of inputs: `conv` is told that these are its outputs.
inline conv::Boxes boxes_of(const Args& a) {
  conv::Args results = a.at;
  if (a.backward)
    for (conv::Direction& d : results.along) d.out = d.in;
  return conv::boxes_of(results, 1, 1);
}

// The maximum so far, and where it is. Later equals do not count; a NaN always does.
struct Most {
  float value = -INFINITY;
  int at = -1;

  __device__ __forceinline__ void see(float x, int place) {
    if (at < 0) at = place;
    if (x > value || x != x) {
      value = x;
      at = place;
    }
  }
};

// A window cut to the image: [first, end) in each direction.
struct Cut {
  int first[kDirections], end[kDirections];

  __device__ __forceinline__ Cut(const Args& a, const conv::Pixel& o) {
#pragma unroll
    for (int d = 0; d < kDirections; ++d) {
      const int from = a.at.along[d].first(o.out[d]);
      first[d] = max(from, 0);
      end[d] = min(from + a.at.along[d].kernel, a.at.along[d].in);
    }
  }
  __device__ __forceinline__ int size() const {
    return (end[0] - first[0]) * (end[1] - first[1]) * (end[2] - first[2]);
  }
  // Calls f(z, y, x).
  template <class F>
  __device__ __forceinline__ void each(F f) const {
    for (int z = first[0]; z < end[0]; ++z)
      for (int y = first[1]; y < end[1]; ++y)
        for (int x = first[2]; x < end[2]; ++x) f(z, y, x);
  }
};
__device__ __forceinline__ float divisor(const Args& a, const Cut& cut) {
  return float(a.count_padding ? a.at.taps() : cut.size());
}

// The windows that an element is in: [first, end) in each direction.
struct Windows {
  int first[kDirections], end[kDirections];

  __device__ __forceinline__ Windows(const Args& a, const conv::Pixel& in) {
#pragma unroll
    for (int d = 0; d < kDirections; ++d) {
      const conv::Direction& along = a.at.along[d];
      const int last = in.out[d] + along.padding, before = last - along.kernel;
      first[d] = before < 0 ? 0 : before / along.stride + 1;
      end[d] = min(last / along.stride + 1, along.out);
    }
  }
  template <class F>
  __device__ __forceinline__ void each(F f) const {
    for (int z = first[0]; z < end[0]; ++z)
      for (int y = first[1]; y < end[1]; ++y)
        for (int x = first[2]; x < end[2]; ++x) f(conv::Pixel{{z, y, x}});
  }
};

__device__ __forceinline__ int64_t dx_at(const Args& a, int plane, const conv::Pixel& p) {
  return plane * a.dx_stride +
         (int64_t(p.out[0]) * a.at.along[1].in + p.out[1]) * a.at.along[2].in + p.out[2];
}
template <class T>
__device__ __forceinline__ float dy_at(const Args& a, int plane, const conv::Pixel& o) {
  const conv::Steps& s = a.at.y_steps;
  return to_float(static_cast<const T*>(
      a.at.y)[plane * s.batch + o.out[0] * s.at[0] + o.out[1] * s.at[1] + o.out[2]]);
}
__device__ __forceinline__ bool is_in(const Args& a, const conv::Pixel& p) {
  return p.out[0] < a.at.along[0].in && p.out[1] < a.at.along[1].in && p.out[2] < a.at.along[2].in;
}

}  // namespace ridge::pool
