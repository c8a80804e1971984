// Elements with marks, as the kernel in ridge/detail/scan_tiles.cuh takes them: see VectorIo there.
#pragma once

#include "kernels/segmented_scan/segments.cuh"
#include "ridge/detail/scan_tiles.cuh"

namespace ridge::segmented_scan {

// A bit for each of the items from i on: whether it is a head. The marks may start anywhere.
template <int kCount>
__device__ __forceinline__ uint32_t marks_of_pack(const Heads& marks, int64_t i) {
  static_assert(kCount == 2 || kCount == 4);
  const uint8_t* const at = marks.heads + i;
  uint32_t word = 0;
  if (reinterpret_cast<uintptr_t>(at) % kCount == 0) {  // the same for all packs
    word = kCount == 4 ? __ldcs(reinterpret_cast<const unsigned int*>(at))
                       : __ldcs(reinterpret_cast<const unsigned short*>(at));
  } else {
#pragma unroll
    for (int k = 0; k < kCount; ++k) word |= uint32_t(__ldcs(at + k)) << 8 * k;
  }
  uint32_t bits = 0;
#pragma unroll
  for (int k = 0; k < kCount; ++k) bits |= uint32_t((word >> 8 * k & 255) != 0) << k;
  return bits;
}
template <int kCount>
__device__ __forceinline__ uint32_t marks_of_pack(const Keys& marks, int64_t i) {
  static_assert(kCount == 2 || kCount == 4);
  const int32_t* const at = marks.keys + i;
  int32_t keys[kCount];
  if (reinterpret_cast<uintptr_t>(at) % (4 * kCount) == 0) {
    if constexpr (kCount == 4) {
      const int4 pack = __ldcs(reinterpret_cast<const int4*>(at));
      keys[0] = pack.x, keys[1] = pack.y, keys[2] = pack.z, keys[3] = pack.w;
    } else {
      const int2 pack = __ldcs(reinterpret_cast<const int2*>(at));
      keys[0] = pack.x, keys[1] = pack.y;
    }
  } else {
#pragma unroll
    for (int k = 0; k < kCount; ++k) keys[k] = __ldcs(at + k);
  }
  uint32_t bits = i > 0 && keys[0] != __ldcs(at - 1);
#pragma unroll
  for (int k = 1; k < kCount; ++k) bits |= uint32_t(keys[k] != keys[k - 1]) << k;
  return bits;
}

template <class T, class Marks>
struct SegmentedIo {
  using Values = detail::VectorIo<T>;
  using Value = Run<T>;
  using Result = T;
  static constexpr int kPack = Values::kPack;
  static constexpr int kPackBytes = Values::kPackBytes;
  struct Pack {
    typename Values::Pack values;
    uint32_t heads;  // one bit per item
  };

  const T* in;
  T* out;
  int64_t n;
  Marks marks;

  __host__ __device__ Values values() const { return {in, out, n}; }
  __host__ __device__ int lead() const { return values().lead(); }
  __device__ bool in_step() const { return values().in_step(); }
  __device__ __forceinline__ void prefetch(int64_t begin, int64_t end, int rank, int ranks) const {
    values().prefetch(begin, end, rank, ranks);
    const auto* const first = marks.data();
    detail::prefetch_to_l2(first + (begin > 0 ? begin : 0), first + (end < n ? end : n), rank,
                           ranks);
  }
  __device__ __forceinline__ Pack load(int64_t i) const {
    return {values().load(i), marks_of_pack<kPack>(marks, i)};
  }
  template <class Op>
  __device__ __forceinline__ Pack load_at_an_end(int64_t i, const Op&) const {
    Pack pack = {values().load_at_an_end(i, scan::Sum<T>()), 0};
#pragma unroll
    for (int k = 0; k < kPack; ++k)
      pack.heads |= uint32_t(i + k >= 0 && i + k < n && marks(i + k)) << k;
    return pack;
  }
  __device__ __forceinline__ static Value item(const Pack& pack, int k) {
    return {pack.values.at[k], pack.heads >> k & 1};
  }
  __device__ __forceinline__ static T inclusive(const Value& through) { return through.sum; }
  __device__ __forceinline__ static T exclusive(const Value& before, const Pack& pack, int k) {
    return pack.heads >> k & 1 ? T(0) : before.sum;
  }
};

}  // namespace ridge::segmented_scan
