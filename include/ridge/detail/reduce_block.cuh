// Combining across a warp, a block and a grid, for the operators of reduce_op.cuh.
#pragma once

#include <cstring>

#include "ridge/detail/pack.cuh"
#include "ridge/detail/ptx/arrive.cuh"
#include "ridge/detail/reduce_op.cuh"

namespace ridge::reduction {

using detail::add_ordered;
using detail::elements_to_alignment;
using detail::kPackSize;
using detail::load_pack;
using detail::load_pack_anywhere;
using detail::Pack;

constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

// --- values of any size ---

template <class Acc>
__device__ __forceinline__ Acc from_lane_xor(Acc value, int mask, unsigned lanes = kAllLanes) {
  static_assert(std::is_trivially_copyable_v<Acc>);
  if constexpr (std::is_arithmetic_v<Acc>) {
    return __shfl_xor_sync(lanes, value, mask);
  } else {
    constexpr int kWords = int((sizeof(Acc) + 3) / 4);
    uint32_t words[kWords] = {};
    memcpy(words, &value, sizeof(Acc));
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = __shfl_xor_sync(lanes, words[i], mask);
    memcpy(&value, words, sizeof(Acc));
    return value;
  }
}

// What another block wrote in this launch: from the L2, where its stores are.
template <class Acc>
__device__ __forceinline__ Acc load_fresh(const Acc* p) {
  if constexpr (std::is_arithmetic_v<Acc>) {
    return __ldcg(p);
  } else {
    static_assert(alignof(Acc) >= 4 && sizeof(Acc) % 4 == 0, "is read in words");
    constexpr int kWords = int(sizeof(Acc) / 4);
    uint32_t words[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = __ldcg(reinterpret_cast<const uint32_t*>(p) + i);
    Acc value;
    memcpy(&value, words, sizeof(Acc));
    return value;
  }
}

// --- a warp, or each `Lanes` of its lanes: the total in all of them ---

template <int Lanes = kWarpSize, class Op>
__device__ __forceinline__ AccOf<Op> warp_combine(const Op& op, AccOf<Op> acc,
                                                  unsigned lanes = kAllLanes) {
  if constexpr (Lanes == kWarpSize && kCombinesWarp<Op>) {
    return op.combine_warp(acc, lanes);
  } else {
#pragma unroll
    for (int mask = Lanes / 2; mask > 0; mask /= 2)
      acc = op.combine(acc, from_lane_xor(acc, mask, lanes));
    return acc;
  }
}
// The total of what `Count` warps left, for one of them: in all its lanes.
template <int Count, class Op>
__device__ __forceinline__ AccOf<Op> combine_of_warps(const Op& op, const AccOf<Op>* of_warp) {
  const int lane = int(threadIdx.x) % kWarpSize;
  if constexpr (kCombinesWarp<Op>)
    return warp_combine(op, lane < Count ? of_warp[lane] : op.identity());
  else return warp_combine<Count>(op, of_warp[lane % Count]);
}

// --- a block: the total in all lanes of warp 0; others have something else ---
// Between two calls there must be a barrier.

template <int Threads, class Op>
__device__ __forceinline__ AccOf<Op> block_combine(const Op& op, AccOf<Op> acc) {
  using Acc = AccOf<Op>;
  constexpr int kWarps = Threads / kWarpSize;
  static_assert(Threads % kWarpSize == 0 && kWarps <= kWarpSize && (kWarps & (kWarps - 1)) == 0);
  acc = warp_combine(op, acc);
  if constexpr (kWarps > 1) {
    __shared__ alignas(16) char memory[kWarps * sizeof(Acc)];
    Acc* const of_warp = reinterpret_cast<Acc*>(memory);
    if (threadIdx.x % kWarpSize == 0) of_warp[threadIdx.x / kWarpSize] = acc;
    __syncthreads();
    if (threadIdx.x < kWarpSize) acc = combine_of_warps<kWarps>(op, of_warp);
  }
  return acc;
}

// The same, with the total in all threads.
template <int Threads, class Op>
__device__ __forceinline__ AccOf<Op> block_combine_for_all(const Op& op, AccOf<Op> acc) {
  using Acc = AccOf<Op>;
  constexpr int kWarps = Threads / kWarpSize;
  static_assert(Threads % kWarpSize == 0 && kWarps <= kWarpSize && (kWarps & (kWarps - 1)) == 0);
  acc = warp_combine(op, acc);
  if constexpr (kWarps > 1) {
    __shared__ alignas(16) char memory[kWarps * sizeof(Acc)];
    Acc* const of_warp = reinterpret_cast<Acc*>(memory);
    if (threadIdx.x % kWarpSize == 0) of_warp[threadIdx.x / kWarpSize] = acc;
    __syncthreads();
    acc = combine_of_warps<kWarps>(op, of_warp);
  }
  return acc;
}

// --- a grid: the last block to arrive finishes the work of all ---

// Counts blocks in a word of memory that needs no preparation. Between launches the word holds
// kMark. If other code has used the memory, it holds something else, and the first block to arrive
// sets it right. Only one of the `expected` - 1 numbers after kMark would be mistaken for a count
// under way. No launch leaves such a number behind, and a random word is one with a probability of
// 2^-54 for a thousand blocks.
constexpr unsigned long long kMark = 0x9c3b'52f1'd86e'4a00;

// The word before this block arrives. Ask for it early, so that nobody has to wait for it. Other
// blocks count in it meanwhile, so this is a relaxed load and not a plain one.
__device__ __forceinline__ unsigned long long before_arrival(const unsigned long long* word) {
  unsigned long long seen;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(word));
  return seen;
}

// What the calling thread wrote before is visible to the block for which this is true. Other
// threads of the block need a barrier between their writes and this call, and between this call and
// their reads. One thread per block calls it.
__device__ __forceinline__ bool is_last_arrival(unsigned long long* word, unsigned expected,
                                                unsigned long long seen) {
  // No block counts in a word that is not right. So the word has not changed, or it is right by
  // now.
  if (seen - kMark >= expected) (void)atomicCAS(word, seen, kMark);
  if (add_ordered(word, 1) - kMark + 1 != expected) return false;
  *word = kMark;
  return true;
}
__device__ __forceinline__ bool is_last_arrival(unsigned long long* word, unsigned expected) {
  return is_last_arrival(word, expected, before_arrival(word));
}

// The total of `count` values that other blocks left, for a warp: in all its lanes, always in the
// same order.
template <class Op>
__device__ __forceinline__ AccOf<Op> warp_combine_fresh(const Op& op, const AccOf<Op>* values,
                                                        int count) {
  constexpr int kUnroll = 8;
  AccOf<Op> acc = op.identity();
  for (int first = int(threadIdx.x) % kWarpSize; first < count; first += kWarpSize * kUnroll) {
    AccOf<Op> value[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      value[u] = op.identity();
      if (first + u * kWarpSize < count) value[u] = load_fresh(values + first + u * kWarpSize);
    }
#pragma unroll
    for (int half = kUnroll / 2; half > 0; half /= 2)
#pragma unroll
      for (int u = 0; u < half; ++u) value[u] = op.combine(value[u], value[u + half]);
    acc = op.combine(acc, value[0]);
  }
  return warp_combine(op, acc);
}

// A pack that is read again soon: stays in the L2 as anything else does.
template <class T>
__device__ __forceinline__ Pack<T> load_pack_to_keep(const T* p) {
  const int4 words = __ldg(reinterpret_cast<const int4*>(p));
  return *reinterpret_cast<const Pack<T>*>(&words);
}

// --- a thread: elements that lie one after another ---

// Elements [first, first + N) of one input, or of two.
template <class Op, class E, int N>
__device__ __forceinline__ void fold(const Op& op, AccOf<Op>& acc, int64_t first, const E (&x)[N]) {
  if constexpr (kAccumulates<Op, E, N>) {
    op.accumulate(acc, x, first);
  } else {
    AccOf<Op> t[N];
#pragma unroll
    for (int i = 0; i < N; ++i) t[i] = transformed(op, first + i, x[i]);
#pragma unroll
    for (int half = N / 2; half > 0; half /= 2)
#pragma unroll
      for (int i = 0; i < half; ++i) t[i] = op.combine(t[i], t[i + half]);
    acc = op.combine(acc, t[0]);
  }
}
template <class Op, class E, int N>
__device__ __forceinline__ void fold(const Op& op, AccOf<Op>& acc, int64_t first, const E (&x)[N],
                                     const E (&y)[N]) {
  AccOf<Op> t[N];
#pragma unroll
  for (int i = 0; i < N; ++i) t[i] = transformed(op, first + i, x[i], y[i]);
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2)
#pragma unroll
    for (int i = 0; i < half; ++i) t[i] = op.combine(t[i], t[i + half]);
  acc = op.combine(acc, t[0]);
}
template <class Op, class T>
__device__ __forceinline__ void fold(const Op& op, AccOf<Op>& acc, int64_t first,
                                     const Pack<T>& x) {
  ElementOf<T> e[kPackSize<T>];
#pragma unroll
  for (int i = 0; i < kPackSize<T>; ++i) e[i] = element(x[i]);
  fold(op, acc, first, e);
}
template <class Op, class T>
__device__ __forceinline__ void fold(const Op& op, AccOf<Op>& acc, int64_t first, const Pack<T>& x,
                                     const Pack<T>& y) {
  ElementOf<T> e[kPackSize<T>], f[kPackSize<T>];
#pragma unroll
  for (int i = 0; i < kPackSize<T>; ++i) e[i] = element(x[i]), f[i] = element(y[i]);
  fold(op, acc, first, e, f);
}

// Packs first, first + step, … below `packs`: several loads, then what is to be done with them.
// load(buffer, pack), take(buffer, pack).
template <int Unroll, class Buffer, class Index, class Load, class Take>
__device__ __forceinline__ void for_packs(Index first, Index step, Index packs, Load load,
                                          Take take) {
  Buffer x[Unroll];
  Index pack = first;
  for (; pack + (Unroll - 1) * step < packs; pack += Unroll * step) {
#pragma unroll
    for (int u = 0; u < Unroll; ++u) load(x[u], pack + u * step);
#pragma unroll
    for (int u = 0; u < Unroll; ++u) take(x[u], pack + u * step);
  }
#pragma unroll
  for (int u = 0; u < Unroll - 1; ++u)  // together: one wait for all that is left
    if (pack + u * step < packs) load(x[u], pack + u * step);
#pragma unroll
  for (int u = 0; u < Unroll - 1; ++u)
    if (pack + u * step < packs) take(x[u], pack + u * step);
}

// What blocks leave for the last of them: the words they are counted in, and their values.
template <class Acc>
struct Meeting {
  unsigned long long* arrivals;
  Acc* partials;
};
template <class Acc>
size_t meeting_bytes(int64_t counted, int64_t values) {
  return (size_t(counted) * sizeof(unsigned long long) + 15) / 16 * 16 +
         size_t(values) * sizeof(Acc);
}
template <class Acc>
Meeting<Acc> meeting_at(void* workspace, int64_t counted) {
  return {static_cast<unsigned long long*>(workspace),
          reinterpret_cast<Acc*>(static_cast<char*>(workspace) + meeting_bytes<Acc>(counted, 0))};
}

}  // namespace ridge::reduction
