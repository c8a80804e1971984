// The k best of a stream of keys, read once by one block.
//
// The block keeps a buffer of candidates in shared memory, and the k-th best key so far as a
// threshold. An element that is not above the threshold costs one comparison. The others go to the
// buffer; when it is full, it is sorted and all but the first k leave it, which raises the
// threshold. Of n elements in random order only about k (1 + ln(n / k)) enter the buffer. If they
// rise, all do, and the buffer is sorted once for every n / (room - k) of them.
#pragma once

#include "device/from_detail.cuh"
#include "kernels/topk/block_sort.cuh"

namespace ridge::topk {

constexpr int kStreamThreads = 256;
constexpr int kStreamWarps = kStreamThreads / kWarpSize;
constexpr int kUnroll = 2;  // packs of a thread that are tested together, while two more are loaded

constexpr int room_for(int k) { return k <= 256 ? 1024 : 2 * kMostK; }

struct Candidates {
  Key* keys;  // (room), in shared memory
  int room, k;
  int* count;  // shared
  Key threshold = 0;

  // By all threads, after a barrier. Sorts, and keeps the best k.
  __device__ void keep_best() {
    const int held = min(*count, room);
    __syncthreads();
    block_sort(keys, held);
    threshold = held >= k ? keys[k - 1] : 0;
    if (threadIdx.x == 0) *count = min(held, k);
    __syncthreads();
  }
};

// Elements [begin, end) of a row. Packs start at 16-byte boundaries.
template <class T>
struct RowSource {
  using Held = Pack<T>;
  static constexpr int kPack = kPackSize<T>;
  const T* x;
  int64_t begin, end;
  bool largest;

  __device__ int64_t lead() const { return (kPack - elements_to_alignment(x + begin)) % kPack; }
  __device__ int64_t first() const { return begin - lead(); }
  __device__ int64_t packs() const { return (end - first() + kPack - 1) / kPack; }
  __device__ Held load(int64_t pack) const {
    const int64_t i = first() + pack * kPack;
    if (i >= begin && i + kPack <= end) return load_pack(x + i);
    Held held = {};
#pragma unroll
    for (int k = 0; k < kPack; ++k)
      if (i + k >= begin && i + k < end) held[k] = x[i + k];
    return held;
  }
  // A bit for each element that may be above the threshold: one comparison of floats, which NaN
  // passes, and ties.
  struct Quick {
    float bound, sign;
  };
  __device__ Quick quick(Key threshold) const {
    const uint32_t order = uint32_t(threshold >> 32);
    const float sign = largest ? 1.0f : -1.0f;
    // 0 is no number's order: everything passes, as with NaN.
    return {threshold == 0 ? __uint_as_float(0x7fffffffu)
                           : sign * from_ordered_bits(largest ? order : ~order),
            sign};
  }
  __device__ uint32_t passing(const Held& held, int64_t pack, Quick q) const {
    uint32_t bits = 0;
#pragma unroll
    for (int k = 0; k < kPack; ++k)
      if (!(q.sign * to_float(held[k]) < q.bound)) bits |= 1u << k;
    if (bits == 0) return 0;
    const int64_t i = first() + pack * kPack;
#pragma unroll
    for (int k = 0; k < kPack; ++k)
      if (i + k < begin || i + k >= end) bits &= ~(1u << k);
    return bits;
  }
  __device__ Key key(const Held& held, int64_t pack, int k) const {
    return key_of(to_float(held[k]), first() + pack * kPack + k, largest);
  }
};

// Keys that were made before, two per pack. There is one for padding where they are odd.
struct KeySource {
  using Held = Pack<Key>;
  static constexpr int kPack = 2;
  const Key* keys;
  int64_t count;

  __device__ int64_t packs() const { return (count + 1) / 2; }
  __device__ Held load(int64_t pack) const { return load_pack(keys + 2 * pack); }
  __device__ Key quick(Key threshold) const { return threshold; }
  __device__ uint32_t passing(const Held& held, int64_t pack, Key threshold) const {
    return uint32_t(held[0] > threshold) | uint32_t(2 * pack + 1 < count && held[1] > threshold)
                                               << 1;
  }
  __device__ Key key(const Held& held, int64_t, int k) const { return held[k]; }
};

// Leaves the k best in best.keys, sorted. By all threads of a block of kStreamThreads.
template <class Source>
__device__ void stream_best(const Source& source, Candidates& best) {
  using Held = typename Source::Held;
  if (threadIdx.x == 0) *best.count = 0;
  __syncthreads();
  const int64_t packs = source.packs();
  const auto pack_at = [&](int64_t first, int u) {
    return first + u * kStreamThreads + threadIdx.x;
  };
  const auto load = [&](int64_t first, Held(&some)[kUnroll]) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
      if (pack_at(first, u) < packs) some[u] = source.load(pack_at(first, u));
  };
  constexpr int64_t kStep = kUnroll * kStreamThreads;
  Held next[kUnroll];
  load(0, next);
  for (int64_t first = 0; first < packs; first += kStep) {
    Held some[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) some[u] = next[u];
    load(first + kStep, next);

    uint32_t pending[kUnroll];
    const auto test = [&] {
      const auto quick = source.quick(best.threshold);
      uint32_t any = 0;
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        pending[u] =
            pack_at(first, u) < packs ? source.passing(some[u], pack_at(first, u), quick) : 0;
        any |= pending[u];
      }
      return any;
    };
    if (!__syncthreads_or(int(test()))) continue;
    while (true) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        uint32_t left = 0;
#pragma unroll
        for (int k = 0; k < Source::kPack; ++k) {
          if (!(pending[u] >> k & 1)) continue;
          const Key key = source.key(some[u], pack_at(first, u), k);
          if (key <= best.threshold) continue;
          const int place = atomicAdd(best.count, 1);
          if (place < best.room) best.keys[place] = key;
          else left |= 1u << k;
        }
        pending[u] = left;
      }
      uint32_t any = 0;
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) any |= pending[u];
      if (!__syncthreads_or(int(any))) break;
      best.keep_best();  // full: make room, and try again those that found none
    }
  }
  __syncthreads();
  best.keep_best();
}

}  // namespace ridge::topk
