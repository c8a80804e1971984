// A pack out of two: for data that lies at another distance from a 16-byte boundary than the data
// it meets. Two wide loads and a shift cost half the memory instructions of four narrow loads, and
// far fewer passes through the cache.
#pragma once

#include <cstring>

#include "device/pack.cuh"

namespace ridge {

// The same bytes as another type.
template <class To, class From>
__device__ __forceinline__ To bytes_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

// The 16 bytes that start `bytes` (0 … 15) into two packs. Cheapest where all lanes shift alike.
__device__ __forceinline__ int4 shifted(const int4& low, const int4& high, int bytes) {
  unsigned w[8] = {unsigned(low.x),  unsigned(low.y),  unsigned(low.z),  unsigned(low.w),
                   unsigned(high.x), unsigned(high.y), unsigned(high.z), unsigned(high.w)};
#pragma unroll
  for (int i = 0; i < 6; ++i) w[i] = bytes & 8 ? w[i + 2] : w[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) w[i] = bytes & 4 ? w[i + 1] : w[i];
  const unsigned bits = unsigned(bytes & 3) * 8;
  return {int(__funnelshift_r(w[0], w[1], bits)), int(__funnelshift_r(w[1], w[2], bits)),
          int(__funnelshift_r(w[2], w[3], bits)), int(__funnelshift_r(w[3], w[4], bits))};
}

}  // namespace ridge
