// token_sampling rung 03, radix_pivot: only the last token that is kept is looked for, digit by
// digit.
//
// Since 02_sort: nothing is sorted. A pass over the row adds up the weights of the tokens by 8 bits
//   of their keys, and tells in which of these 256 groups the wanted share is reached; the next
//   pass looks into that group alone. Four passes settle the logit, and two or three more which of
//   its equals is the last one. Weights are whole numbers, so atomics add them up to the same sums
//   in any order.
// Stops at: six or seven passes over the row, from L2; in the first pass at atomics, because most
//   logits share their upper 8 bits.
// Not for: few rows: one block per row leaves most of the GPU idle.
#include "kernels/token_sampling/row.cuh"
#include "select/select.h"

namespace ridge::token_sampling::radix_pivot {

constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits, kPerLane = kDigits / kWarpSize;
constexpr Tuned kTuned = {20.0, 0.15};  // not measured

struct RadixPivot {
  template <class T>
  __device__ void start(const Row<T>&, int64_t) const {}

  // The last key of the order, from the largest down to `last`, before which the amounts are less
  // than `wanted`.
  template <class T, class Amount>
  __device__ Key find(const Row<T>& row, Key last, Weight wanted, Amount amount) const {
    __shared__ Weight amounts[kDigits];
    __shared__ Weight before;  // what keys above those with the prefix amount to
    __shared__ Key prefix;     // of the keys that are looked at
    if (threadIdx.x == 0) {
      before = 0;
      prefix = 0;
    }
    // Columns are under 2^20: of their complements the upper bits are all set.
    const int known = row.cols <= 1 << 16 ? 16 : 8;
    for (int shift = 64 - kDigitBits; shift >= 0; shift -= kDigitBits) {
      if (shift < 32 && shift >= 32 - known) {
        __syncthreads();
        if (threadIdx.x == 0) prefix |= Key(kDigits - 1) << shift;
        continue;
      }
      for (int d = int(threadIdx.x); d < kDigits; d += kThreads) amounts[d] = 0;
      __syncthreads();
      const Key found = prefix;
      const int above = shift + kDigitBits;
      row.each([&](Key key) {
        if (key < last || (above < 64 && key >> above != found >> above)) return;
        const Weight more = amount(key);
        if (more > 0) atomicAdd(&amounts[int(key >> shift) & (kDigits - 1)], more);
      });
      __syncthreads();
      if (threadIdx.x < kWarpSize) descend(amounts, wanted, shift, before, prefix);
      __syncthreads();
    }
    __syncthreads();
    return prefix;
  }
  // By one warp: which digit has the key, and what is before it. Each lane has eight digits, the
  // first lane the largest.
  __device__ static void descend(const Weight (&amounts)[kDigits], Weight wanted, int shift,
                                 Weight& before, Key& prefix) {
    const int lane = int(threadIdx.x), largest = kDigits - 1 - lane * kPerLane;
    Weight mine = 0;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) mine += amounts[largest - i];
    Weight through = mine;
#pragma unroll
    for (int d = 1; d < kWarpSize; d *= 2) {
      const Weight other = __shfl_up_sync(kAllLanes, through, d);
      if (lane >= d) through += other;
    }
    const Weight start = before;
    __syncwarp();
    through += start;
    Weight passed = through - mine;
    if (passed >= wanted || through < wanted) return;  // in all lanes but one
    int digit = largest;
    while (passed + amounts[digit] < wanted) passed += amounts[digit--];
    before = passed;
    prefix |= Key(digit) << shift;
  }

  template <class T>
  __device__ Key last_by_count(const Row<T>& row, Key, int64_t count) const {
    return find(row, 0, Weight(count), [](Key) { return Weight(1); });
  }
  template <class T>
  __device__ Key last_by_weight(const Row<T>& row, Key, Key last, Weight share) const {
    return find(row, last, share, [&](Key key) { return row.weight(key); });
  }
};

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return launch_rows(a, RadixPivot(), stream);
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "the last token that is kept, digit by digit of its key",
                             .supports = takes_floats,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.global_stores_per_element = 1.0 / 2048}};

}  // namespace ridge::token_sampling::radix_pivot
