// Sixteen bytes from any address: the two aligned packs around them are loaded and shifted
// together. If neighbouring lanes load neighbouring packs, the second pack of a lane is the first
// pack of the next lane, so the cache serves it.
#pragma once

#include <cstring>

#include "device/from_detail.cuh"

namespace ridge {

// The same bytes as another type.
template <class To, class From>
__device__ __forceinline__ To bytes_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

// Bytes shift … shift + 15 of the 32 in `low` and `high`; shift is 0 … 15.
__device__ __forceinline__ uint4 shifted(uint4 low, uint4 high, int shift) {
  const uint32_t w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  uint32_t by_8[6], by_4[5];
#pragma unroll
  for (int i = 0; i < 6; ++i) by_8[i] = shift & 8 ? w[i + 2] : w[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) by_4[i] = shift & 4 ? by_8[i + 1] : by_8[i];
  const uint32_t bits = uint32_t(shift & 3) * 8;
  return make_uint4(
      __funnelshift_r(by_4[0], by_4[1], bits), __funnelshift_r(by_4[1], by_4[2], bits),
      __funnelshift_r(by_4[2], by_4[3], bits), __funnelshift_r(by_4[3], by_4[4], bits));
}

__device__ __forceinline__ int4 shifted(const int4& low, const int4& high, int shift) {
  return bytes_as<int4>(shifted(bytes_as<uint4>(low), bytes_as<uint4>(high), shift));
}

__device__ __forceinline__ int bytes_past_alignment(const void* p) {
  return int(reinterpret_cast<uintptr_t>(p) % kPackBytes);
}

// The first `count` elements of a pack, one by one; zeros after them.
template <class T>
__device__ __forceinline__ uint4 gather(const T* p, int count) {
  constexpr int kBits = int(sizeof(T)) * 8;
  uint64_t low = 0, high = 0;
  for (int i = count - 1; i >= 0; --i) {
    high = high << kBits | low >> (64 - kBits);
    low = low << kBits | p[i];
  }
  return make_uint4(uint32_t(low), uint32_t(low >> 32), uint32_t(high), uint32_t(high >> 32));
}

// A pack from anywhere in an array that nobody writes, in two steps, so that many can be under way:
// ask for it, and take it when all are asked for.
template <class T>
struct PackRequest {
  const T* at;
  bool is_whole;  // low and high hold it
  uint4 low, high;

  // The array lies in [begin, end). At its ends, where an aligned pack would reach outside, the
  // pack is gathered later.
  __device__ __forceinline__ void ask(const T* p, const void* begin, const void* end) {
    at = p;
    const int shift = bytes_past_alignment(p);
    const char* first = reinterpret_cast<const char*>(p) - shift;
    is_whole = shift == 0 || (first >= begin && first + 2 * kPackBytes <= end);
    if (is_whole) low = __ldg(reinterpret_cast<const uint4*>(first));
    if (is_whole && shift) high = __ldg(reinterpret_cast<const uint4*>(first) + 1);
  }
  __device__ __forceinline__ uint4 take() const {
    return is_whole ? shifted(low, high, bytes_past_alignment(at)) : gather(at, kPackSize<T>);
  }
};

}  // namespace ridge
