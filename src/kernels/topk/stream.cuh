// The k best of a stream of keys, read once by one block.
//
// The block keeps a buffer of candidates in shared memory, and the k-th best key so far as a
// threshold. An element that is not above the threshold costs one comparison. The others go to the
// buffer; when it is full, it is sorted and all but the first k leave it, which raises the
// threshold. If elements come in random order, each sort lasts about room / k times as long as the
// one before. If they rise, all enter the buffer, and it is sorted after every room - k of them.
#pragma once

#include "device/from_detail.cuh"
#include "device/ptx/minmax.cuh"
#include "device/shifted.cuh"
#include "kernels/topk/block_sort.cuh"

namespace ridge::topk {

// Of so many keys the first threshold is the k-th best, at most 256. Twice as many would lower the
// number of elements above it by a fifth, and take more than twice as long to sort.
constexpr int kMostStartKeys = 256;
__host__ __device__ constexpr int start_keys(int k) { return k <= 64 ? 128 : kMostStartKeys; }
constexpr int kUnroll = 4;  // packs of a thread that are tested together, while two more are loaded

// Small, because it is sorted twice at least; large, because full buffers are sorted more often.
constexpr int room_for(int k) { return k <= 64 ? 512 : k <= 256 ? 1024 : 2 * kMostK; }

struct Candidates {
  Key* keys;  // (room), in shared memory
  int room, k;
  int* count;  // shared
  Key threshold = 0;

  // By all threads, with the best key of some elements of each: the k-th best of them is not above
  // the k-th best of all. The threshold is one step below, so that these elements pass.
  __device__ void start(Key mine) {
    const int wanted = start_keys(k);
    const int together = int(blockDim.x) / wanted;  // threads that have one key
    for (int d = 1; d < together; d *= 2) mine = max(mine, __shfl_xor_sync(kAllLanes, mine, d));
    if (int(threadIdx.x) % together == 0) keys[int(threadIdx.x) / together] = mine;
    block_sort(keys, wanted);
    const uint32_t order = uint32_t(keys[k - 1] >> 32);
    threshold = order == 0 ? 0 : Key(order - 1) << 32 | 0xffffffffu;
    __syncthreads();
  }
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
  // Whether an element may be above the threshold: one comparison of floats, which NaN passes. Of
  // equal elements the first wins, and the threshold's own comes before all that are still tested.
  __device__ float bound(Key threshold) const {
    const uint32_t order = uint32_t(threshold >> 32);
    // 0 is the order of nothing: everything passes a NaN.
    if (threshold == 0) return __uint_as_float(0x7fffffffu);
    if (!largest) return from_ordered_bits(~order);
    // The step below 0 is no number's order, but as bits it is -0, which 0 would not pass.
    constexpr uint32_t kBelowZero = 0x7fffffffu;
    return from_ordered_bits(order == kBelowZero ? kBelowZero - 1 : order);
  }
  // Whether an element of the packs may be above the bound. Elements of two bytes are compared two
  // at a time, as they are: half an instruction for each.
  __device__ bool any_passes(const Held (&held)[kUnroll], float bound) const {
    return largest ? !(extreme<true>(held) <= bound) : !(extreme<false>(held) >= bound);
  }
  // A bit for each element that may be above the bound.
  __device__ uint32_t passing(const Held& held, float bound) const {
    uint32_t bits = 0;
    if (largest) {
#pragma unroll
      for (int k = 0; k < kPack; ++k) bits |= !(to_float(held[k]) <= bound) ? 1u << k : 0;
    } else {
#pragma unroll
      for (int k = 0; k < kPack; ++k) bits |= !(to_float(held[k]) >= bound) ? 1u << k : 0;
    }
    return bits;
  }
  // The largest or the smallest number, and NaN if there is one.
  template <bool Largest>
  __device__ static float extreme(const Held (&held)[kUnroll]) {
    const auto of = [](float a, float b) { return Largest ? max_or_nan(a, b) : min_or_nan(a, b); };
    if constexpr (sizeof(T) == 2) {
      using Pair = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;
      Pair best = bytes_as<Pair>(held[0].words[0]);
#pragma unroll
      for (int w = 1; w < 4 * kUnroll; ++w) {
        const Pair next = bytes_as<Pair>(held[w / 4].words[w % 4]);
        best = Largest ? __hmax2_nan(best, next) : __hmin2_nan(best, next);
      }
      return of(to_float(best.x), to_float(best.y));
    } else {
      float best = held[0][0];
#pragma unroll
      for (int i = 1; i < kPack * kUnroll; ++i) best = of(best, held[i / kPack][i % kPack]);
      return best;
    }
  }
  __device__ bool is_there(int64_t pack, int k) const {
    const int64_t i = first() + pack * kPack + k;
    return i >= begin && i < end;
  }
  // Reads the element again, from a cache: few are asked for, and a register has no index.
  __device__ Key key(int64_t pack, int k) const {
    const int64_t i = first() + pack * kPack + k;
    return key_of(to_float(x[i]), i, largest);
  }
  // The best of a pack.
  __device__ Key best_of(const Held& held, int64_t pack) const {
    Key best = 0;
#pragma unroll
    for (int k = 0; k < kPack; ++k)
      if (is_there(pack, k))
        best = max(best, key_of(to_float(held[k]), first() + pack * kPack + k, largest));
    return best;
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
  __device__ Key bound(Key threshold) const { return threshold; }
  __device__ bool any_passes(const Held (&held)[kUnroll], Key bound) const {
    bool any = false;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) any |= held[u][0] > bound || held[u][1] > bound;
    return any;
  }
  __device__ uint32_t passing(const Held& held, Key bound) const {
    return uint32_t(held[0] > bound) | uint32_t(held[1] > bound) << 1;
  }
  __device__ bool is_there(int64_t pack, int k) const { return 2 * pack + k < count; }
  __device__ Key key(int64_t pack, int k) const { return keys[2 * pack + k]; }
  __device__ Key best_of(const Held& held, int64_t pack) const {
    return is_there(pack, 1) ? max(held[0], held[1]) : held[0];
  }
};

// A place in the buffer for each lane that wants one, with one atomic per warp.
__device__ __forceinline__ int warp_place(bool is_wanted, int* count) {
  const unsigned wanting = __ballot_sync(kAllLanes, is_wanted);
  if (wanting == 0) return 0;
  const int lane = int(threadIdx.x) % kWarpSize, leader = __ffs(int(wanting)) - 1;
  int first = 0;
  if (lane == leader) first = atomicAdd(count, __popc(wanting));
  return __shfl_sync(kAllLanes, first, leader) + __popc(wanting & ((1u << lane) - 1));
}

// Leaves the k best among the keys of best, which keep_best then sorts. By all threads of a block.
template <int Threads, class Source>
__device__ void stream_best(const Source& source, Candidates& best) {
  using Held = typename Source::Held;
  if (threadIdx.x == 0) *best.count = 0;
  __syncthreads();
  const int64_t packs = source.packs();
  const auto pack_at = [&](int64_t first, int u) { return first + u * Threads + threadIdx.x; };
  const auto load = [&](int64_t first, Held(&some)[kUnroll]) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
      if (pack_at(first, u) < packs) some[u] = source.load(pack_at(first, u));
  };
  constexpr int64_t kStep = kUnroll * Threads;
  Held next[kUnroll] = {};
  load(0, next);
  if (best.k <= kMostStartKeys) {  // enough of them for a first threshold
    Key mine = 0;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
      if (pack_at(0, u) < packs) mine = max(mine, source.best_of(next[u], pack_at(0, u)));
    best.start(mine);
  }
  for (int64_t first = 0; first < packs; first += kStep) {
    Held some[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) some[u] = next[u];
    load(first + kStep, next);

    const auto bound = source.bound(best.threshold);
    const bool has_some =
        source.any_passes(some, bound);  // or its packs are those of a step before
    if (!__syncthreads_or(int(has_some))) continue;
    uint32_t bits = 0;  // elements of this thread that may be among the best
    if (has_some)
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        if (pack_at(first, u) < packs) bits |= source.passing(some[u], bound) << u * Source::kPack;

    while (true) {
      uint32_t left = 0;                     // those that found no room
      while (__any_sync(kAllLanes, bits)) {  // most warps have none, and most lanes of the others
        const int at = max(__ffs(int(bits)) - 1, 0);
        const int64_t pack = pack_at(first, at / Source::kPack);
        const int k = at % Source::kPack;
        const Key key = bits && source.is_there(pack, k) ? source.key(pack, k) : 0;
        const bool is_better = key > best.threshold;
        const int place = warp_place(is_better, best.count);
        if (is_better && place < best.room) best.keys[place] = key;
        else if (is_better) left |= bits & -bits;
        bits &= bits - 1;
      }
      bits = left;
      if (!__syncthreads_or(int(left))) break;
      best.keep_best();  // full: make room, and try again those that found none
    }
  }
  __syncthreads();
}

}  // namespace ridge::topk
