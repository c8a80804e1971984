// One pass of a radix sort over one tile: keys go to where their digit of 8 bits says, equal digits
// in their order.
//
// A warp has kItems * 32 neighbouring keys, in rows of 32. Row after row it finds the lanes with
// the same digit by eight ballots. How many keys of a digit came before, in this warp, is counted
// in shared memory. Then the counts of the warps are added up, and the keys are put in order in
// shared memory, so that neighbouring lanes write neighbouring places.
#pragma once

#include "kernels/radix_sort/order.cuh"

namespace ridge::radix_sort {

constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;
constexpr int kPasses = 32 / kDigitBits;
constexpr int kThreads = 384;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kItems = 16;  // keys per thread
constexpr int kTile = kThreads * kItems;
static_assert(kThreads >= kDigits, "one thread per digit");

inline int64_t tiles_of(const Args& a) { return (a.n + kTile - 1) / kTile; }

__device__ __forceinline__ int digit_of(const Order& order, uint32_t key, int shift) {
  return int(order(key) >> shift) & (kDigits - 1);
}

// Of the lanes with the same digit as this one.
__device__ __forceinline__ unsigned lanes_with_digit(int digit) {
  unsigned lanes = kAllLanes;
#pragma unroll
  for (int bit = 0; bit < kDigitBits; ++bit) {
    const bool is_set = digit >> bit & 1;
    const unsigned set = __ballot_sync(kAllLanes, is_set);
    lanes &= is_set ? set : ~set;
  }
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

// start_of(digit, count): where the tile's keys of this digit go in the output; called once for
// each digit, by one thread each.
template <bool kPairs, class StartOf>
__device__ void scatter_tile(const Args& a, const Order& order, int shift, int64_t tile,
                             TileShared& s, StartOf start_of) {
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  const int64_t tile_begin = tile * kTile;
  const int64_t begin = tile_begin + warp * kItems * kWarpSize + lane;  // of this thread's keys
  const int there = int(min(int64_t(kTile), a.n - tile_begin));         // keys of the tile

  uint32_t keys[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int64_t from = begin + i * kWarpSize;
    keys[i] = from < a.n ? a.keys[from] : 0;
  }
  for (int d = lane; d < kDigits; d += kWarpSize) s.counts[warp][d] = 0;
  __syncwarp();

  // Keys that are not there have the last digit, and come after all others.
  const auto digit_at = [&](int i) {
    return begin + i * kWarpSize < a.n ? digit_of(order, keys[i], shift) : kDigits - 1;
  };
  uint32_t ranks[kItems];  // among the warp's keys of the same digit
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int digit = digit_at(i);
    const unsigned same = lanes_with_digit(digit);
    const unsigned below = same & ((1u << lane) - 1);
    ranks[i] = s.counts[warp][digit] + uint32_t(__popc(below));
    __syncwarp();
    if (below == 0) s.counts[warp][digit] += uint32_t(__popc(same));  // the first of them
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
    if (digit == kDigits - 1) count -= uint32_t(kTile - there);
#pragma unroll
    for (int w = 0; w < kWarps; ++w) s.counts[w][digit] += first;
    s.shifts[digit] = start_of(digit, count) - first;
  }
  __syncthreads();

#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    ranks[i] += s.counts[warp][digit_at(i)];  // now in the tile
    s.keys[ranks[i]] = keys[i];
  }
  __syncthreads();
  uint32_t to[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int place = i * kThreads + int(threadIdx.x);
    if (place >= there) continue;
    const uint32_t key = s.keys[place];
    to[i] = s.shifts[digit_of(order, key, shift)] + uint32_t(place);
    // A model of time runs some blocks only, and counts may then be missing.
    if (to[i] < a.n) a.sorted_keys[to[i]] = key;
  }
  if constexpr (kPairs) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int64_t from = begin + i * kWarpSize;
      if (from < a.n) s.keys[ranks[i]] = a.values[from];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int place = i * kThreads + int(threadIdx.x);
      if (place < there && to[i] < a.n) a.sorted_values[to[i]] = s.keys[place];
    }
  }
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
