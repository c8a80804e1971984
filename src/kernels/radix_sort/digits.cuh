// One pass of a radix sort over one tile: keys go to where their digit of 8 bits says, equal digits
// in their order.
//
// A warp has kItems * 32 neighbouring keys, in rows of 32. Row after row it finds the lanes with
// the same digit by eight ballots. How many keys of a digit came before, in this warp, is counted
// in shared memory. Then the counts of the warps are added up, and the keys are put in order in
// shared memory, so that neighbouring lanes write neighbouring places.
//
// Instructions bound it, so all tiles but the last have code without bounds checks, the format of
// the keys is known when it is compiled, and a digit is taken from its key once: it travels in the
// upper half of the key's rank.
#pragma once

#include "device/ptx/vote.cuh"
#include "kernels/radix_sort/order.cuh"

namespace ridge::radix_sort {

constexpr int kDigitBits = 8;  // a byte, which one instruction takes out of a word
constexpr int kDigits = 1 << kDigitBits;
constexpr int kPasses = 32 / kDigitBits;
constexpr int kThreads = 384;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kItems = 20;  // keys per thread
constexpr int kTile = kThreads * kItems;
static_assert(kThreads >= kDigits, "one thread per digit");
static_assert(kTile <= 1 << 16, "a rank is half a word");

inline int64_t tiles_of(const Args& a) { return (a.n + kTile - 1) / kTile; }

// An Order whose kind of keys is known when it is compiled.
template <bool kFloats>
struct DigitOrder {
  uint32_t flipped;

  // Of pass 0, 1 …, the lowest digit first.
  __device__ __forceinline__ uint32_t digit(uint32_t key, int pass) const {
    return __byte_perm((kFloats ? ordered_float(key) : key) ^ flipped, 0, 0x4440 + pass);
  }
};
// f(pairs, order): whether there are values, and how digits are found.
template <class F>
Status with_digits(const Args& a, F f) {
  const Order order(a);
  return with_values(a, [&](auto pairs) {
    return order.is_float ? f(pairs, DigitOrder<true>{order.flipped})
                          : f(pairs, DigitOrder<false>{order.flipped});
  });
}

// Of the lanes with the same digit as this one.
__device__ __forceinline__ unsigned lanes_with_digit(uint32_t digit) {
  unsigned lanes = kAllLanes;
#pragma unroll
  for (int bit = 0; bit < kDigitBits; ++bit) lanes &= ptx::lanes_like_this(digit & 1u << bit);
  return lanes;
}

struct TileShared {
  uint32_t counts[kWarps][kDigits];  // then: where the warp's keys of a digit start in the tile
  uint32_t warp_totals[kDigits / kWarpSize];
  uint32_t shifts[kDigits];  // from a key's place in the tile to its place in the output
  uint32_t keys[kTile];      // in order; then the values
};

// The sum over the digits before this thread's. The first kDigits threads have one digit each, the
// others have none, but come along for the barriers.
__device__ __forceinline__ uint32_t sum_before(uint32_t count, TileShared& s) {
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  uint32_t through = count;
#pragma unroll
  for (int d = 1; d < kWarpSize; d *= 2) {
    const uint32_t below = __shfl_up_sync(kAllLanes, through, d);
    if (lane >= d) through += below;
  }
  if (lane == kWarpSize - 1 && threadIdx.x < kDigits) s.warp_totals[warp] = through;
  __syncthreads();
  uint32_t before = through - count;
#pragma unroll
  for (int w = 0; w < kDigits / kWarpSize; ++w) before += w < warp ? s.warp_totals[w] : 0;
  return before;
}

// Starts has, for one thread per digit, once each:
//   announce(digit, count): the tile has so many keys of this digit.
//   start_of(digit, count): where they go in the output. It may wait for other tiles.
template <bool kFull, bool kPairs, class DigitOrder, class Starts>
__device__ __forceinline__ void scatter_tile_of(const Args& a, const DigitOrder& order, int pass,
                                                int64_t tile, TileShared& s, Starts starts) {
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  const int64_t tile_begin = tile * kTile;
  const int there = kFull ? kTile : int(a.n - tile_begin);  // keys of the tile
  const int first_item = warp * kItems * kWarpSize + lane;  // of this thread's keys, in the tile
  const auto is_there = [&](int i) { return kFull || first_item + i * kWarpSize < there; };

  const uint32_t* const from = a.keys + tile_begin + first_item;
  uint32_t keys[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) keys[i] = is_there(i) ? from[i * kWarpSize] : 0;
#pragma unroll
  for (int d = lane; d < kDigits; d += kWarpSize) s.counts[warp][d] = 0;
  __syncwarp();

  // Of each key: how many keys of its digit come before it in the warp, and its digit above that.
  uint32_t ranks[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    // Keys that are not there have the last digit, and come after all others.
    const uint32_t digit = is_there(i) ? order.digit(keys[i], pass) : kDigits - 1;
    const unsigned same = lanes_with_digit(digit);
    const unsigned below = same & ((1u << lane) - 1);
    uint32_t* const count = &s.counts[warp][digit];
    const uint32_t before = *count;
    ranks[i] = digit << 16 | (before + uint32_t(__popc(below)));
    __syncwarp();
    if (below == 0) *count = before + uint32_t(__popc(same));  // the first of them
    __syncwarp();
  }
  __syncthreads();

  const int digit = int(threadIdx.x);
  uint32_t count = 0;
  if (digit < kDigits) {
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      const uint32_t own = s.counts[w][digit];
      s.counts[w][digit] = count;
      count += own;
    }
  }
  const uint32_t first = sum_before(count, s);  // of the digit, in the tile
  if (digit < kDigits) {
    if (!kFull && digit == kDigits - 1) count -= uint32_t(kTile - there);
    starts.announce(digit, count);
#pragma unroll
    for (int w = 0; w < kWarps; ++w) s.counts[w][digit] += first;
  }
  __syncthreads();

#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    ranks[i] = (ranks[i] & 0xffff) + s.counts[warp][ranks[i] >> 16];  // now in the tile
    s.keys[ranks[i]] = keys[i];
  }
  if constexpr (kPairs) {  // the keys are in shared memory, so the values may have their registers
#pragma unroll
    for (int i = 0; i < kItems; ++i)
      if (is_there(i)) keys[i] = a.values[tile_begin + first_item + i * kWarpSize];
  }
  if (digit < kDigits) s.shifts[digit] = starts.start_of(digit, count) - first;
  __syncthreads();

  // A model of time runs some blocks only, and counts may then be missing: no place beyond the end.
  const auto is_place = [&](int place, uint32_t to) {
    return (kFull || place < there) && to < uint32_t(a.n);
  };
  uint32_t to[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int place = i * kThreads + int(threadIdx.x);
    const uint32_t key = s.keys[place];
    to[i] = s.shifts[order.digit(key, pass)] + uint32_t(place);
    if (is_place(place, to[i])) a.sorted_keys[to[i]] = key;
  }
  if constexpr (kPairs) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) s.keys[ranks[i]] = keys[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int place = i * kThreads + int(threadIdx.x);
      if (is_place(place, to[i])) a.sorted_values[to[i]] = s.keys[place];
    }
  }
}
template <bool kPairs, class DigitOrder, class Starts>
__device__ void scatter_tile(const Args& a, const DigitOrder& order, int pass, int64_t tile,
                             TileShared& s, Starts starts) {
  if ((tile + 1) * kTile <= a.n) scatter_tile_of<true, kPairs>(a, order, pass, tile, s, starts);
  else scatter_tile_of<false, kPairs>(a, order, pass, tile, s, starts);
}

// The four passes go from the input to the workspace, to the result, and once more to both.
inline Args args_of_pass(const Args& a, int pass) {
  uint32_t* const spare = static_cast<uint32_t*>(a.workspace);
  Args step = a;
  if (pass > 0) {
    step.keys = pass % 2 ? spare : a.sorted_keys;
    step.values = pass % 2 ? spare + a.n : a.sorted_values;
  }
  if (pass % 2 == 0) {
    step.sorted_keys = spare;
    step.sorted_values = spare + a.n;
  }
  return step;
}
// Of the workspace: first the keys (and values) between two passes, then what the rung needs.
inline size_t spare_bytes(const Args& a) {
  const size_t bytes = size_t(a.n) * (has_values(a) ? 8 : 4);
  return (bytes + 255) / 256 * 256;
}

}  // namespace ridge::radix_sort
