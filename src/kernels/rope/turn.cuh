// Where pairs lie, and how one is turned.
#pragma once

#include "device/convert.cuh"
#include "kernels/rope/rope.h"

namespace ridge::rope {

struct Pair {
  float x, y;
};
// `sine` is negative to turn back.
__device__ __forceinline__ Pair turned(Pair p, float cosine, float sine) {
  return {fmaf(p.x, cosine, -p.y * sine), fmaf(p.y, cosine, p.x * sine)};
}

// Places of pair i's numbers in a head.
struct Places {
  int64_t x, y;
};
__device__ __forceinline__ Places places_of(int64_t i, int64_t dim, bool interleaved) {
  if (interleaved) return {2 * i, 2 * i + 1};
  return {i, i + dim / 2};
}

template <class T>
__device__ __forceinline__ void turn_one(const T* in, T* out, Places at, float cosine, float sine) {
  const Pair p = turned({to_float(in[at.x]), to_float(in[at.y])}, cosine, sine);
  out[at.x] = from_float<T>(p.x);
  out[at.y] = from_float<T>(p.y);
}

}  // namespace ridge::rope
