// Keys as whole numbers in the order in which they are sorted. Keys travel as they are; only their
// order is computed where it is needed.
#pragma once

#include "device/bitonic.cuh"
#include "kernels/radix_sort/radix_sort.h"

namespace ridge::radix_sort {

// Floats as whole numbers in their order: NaN is the largest, and -0 is 0.
__device__ __forceinline__ uint32_t ordered_float(uint32_t key) {
  if ((key & 0x7fffffffu) > 0x7f800000u) return ~0u;
  if (key & 0x80000000u) return key == 0x80000000u ? 0x80000000u : ~key;
  return key | 0x80000000u;
}

struct Order {
  bool is_float;
  uint32_t flipped;  // bits

  explicit Order(const Args& a)
      : is_float(a.dtype == Dtype::f32),
        flipped((a.dtype == Dtype::i32 ? 0x80000000u : 0) ^ (a.descending ? ~0u : 0)) {}

  __device__ __forceinline__ uint32_t operator()(uint32_t key) const {
    return (is_float ? ordered_float(key) : key) ^ flipped;
  }
};

inline Support sorts(const Args& a, const DeviceInfo&) {
  const bool known = a.dtype == Dtype::u32 || a.dtype == Dtype::i32 || a.dtype == Dtype::f32;
  return known ? kSupported : "sorts u32, i32 and f32";
}
template <class F>
Status with_values(const Args& a, F f) {
  return has_values(a) ? f(std::true_type()) : f(std::false_type());
}

// A block's keys in shared memory: their order above, their place below, so that no two are equal
// and equal keys keep their order. Complemented, because block_sort puts the largest first.
constexpr int kBlockTile = 2048;
constexpr int kBlockThreads = 512;

__device__ inline void sort_in_block(const Order& order, const uint32_t* keys, int count,
                                     SortKey* shared) {
  for (int i = int(threadIdx.x); i < count; i += kBlockThreads)
    shared[i] = ~(SortKey(order(keys[i])) << 32 | uint32_t(i));
  block_sort(shared, count);
}
__device__ __forceinline__ int place_of(SortKey key) { return int(~uint32_t(key)); }

// Sorts keys [first, first + count) and writes them to the same places.
template <bool kPairs>
__device__ void write_block_sorted(const Args& a, const Order& order, int64_t first, int count,
                                   SortKey* shared) {
  sort_in_block(order, a.keys + first, count, shared);
  for (int i = int(threadIdx.x); i < count; i += kBlockThreads) {
    const int64_t from = first + place_of(shared[i]);
    a.sorted_keys[first + i] = a.keys[from];
    if (kPairs) a.sorted_values[first + i] = a.values[from];
  }
}

}  // namespace ridge::radix_sort
