// What all rungs of token_sampling share: a row's keys and weights, and the draw from what is kept.
#pragma once

#include "device/philox.cuh"
#include "kernels/token_sampling/token_sampling.h"
#include "kernels/topk/keys.cuh"  // the order of a row's elements, as whole numbers

namespace ridge::token_sampling {

using topk::Key;
using Weight = unsigned long long;

constexpr int kThreads = 512, kWarps = kThreads / kWarpSize;
// Weights are whole numbers, so their sums do not depend on the order: every rung keeps the same
// tokens. The most probable token weighs 2^40, and 2^20 such weights fit 64 bits.
constexpr float kWeightOfMax = 0x1p40f;

// Over the block. `partials` may not be in use by an earlier call.
__device__ __forceinline__ Key block_max(Key mine, Key (&partials)[kWarps]) {
  const int lane = threadIdx.x % kWarpSize;
#pragma unroll
  for (int d = kWarpSize / 2; d > 0; d /= 2) mine = max(mine, __shfl_xor_sync(kAllLanes, mine, d));
  if (lane == 0) partials[threadIdx.x / kWarpSize] = mine;
  __syncthreads();
  mine = lane < kWarps ? partials[lane] : 0;
#pragma unroll
  for (int d = kWarpSize / 2; d > 0; d /= 2) mine = max(mine, __shfl_xor_sync(kAllLanes, mine, d));
  __syncthreads();
  return mine;
}
__device__ __forceinline__ Weight block_sum(Weight mine, Weight (&partials)[kWarps]) {
  const int lane = threadIdx.x % kWarpSize;
#pragma unroll
  for (int d = kWarpSize / 2; d > 0; d /= 2) mine += __shfl_xor_sync(kAllLanes, mine, d);
  if (lane == 0) partials[threadIdx.x / kWarpSize] = mine;
  __syncthreads();
  mine = lane < kWarps ? partials[lane] : 0;
#pragma unroll
  for (int d = kWarpSize / 2; d > 0; d /= 2) mine += __shfl_xor_sync(kAllLanes, mine, d);
  __syncthreads();
  return mine;
}

template <class T>
struct Row {
  const T* logits;  // (cols)
  int64_t cols;
  float max, inverse;  // of the temperature

  __device__ __forceinline__ Key key(int64_t c) const {
    return topk::key_of(to_float(logits[c]), c, true);
  }
  __device__ __forceinline__ float scaled(float x) const { return (x - max) * inverse; }
  __device__ __forceinline__ Weight weight(Key key) const {
    const float x = topk::from_ordered_bits(uint32_t(key >> 32));
    return __float2ull_rn(expf(scaled(x)) * kWeightOfMax);
  }
  // Calls f(key) for every token of the row, by the threads of the block in turn.
  template <class F>
  __device__ __forceinline__ void each(F f) const {
    for (int64_t c = threadIdx.x; c < cols; c += kThreads) f(key(c));
  }
};

// How much of `total` top_p asks for: tokens are kept as long as those before them weigh less.
__device__ __forceinline__ Weight share_of(double top_p, Weight total) {
  const Weight share = Weight(ceil(top_p * double(total)));
  return share > 0 ? share : 1;
}

// The score decides, then the order of the columns.
template <class T>
__device__ __forceinline__ void draw(const Args& a, const Philox& stream, int64_t r,
                                     const Row<T>& row, Key last, Key (&partials)[kWarps]) {
  const uint64_t blocks = uint64_t(a.cols + 3) / 4;  // of random numbers, for each row
  const Weight least = Weight(ceil(a.min_p * double(kWeightOfMax)));
  Key best = 0;
  row.each([&](Key key) {
    if (key < last || (least > 0 && row.weight(key) < least)) return;
    const uint32_t column = ~uint32_t(key);
    const Random4 random = stream.block(uint64_t(r) * blocks + column / 4);
    uint32_t word = random.at[0];
    if (column % 4 == 1) word = random.at[1];
    if (column % 4 == 2) word = random.at[2];
    if (column % 4 == 3) word = random.at[3];
    // Uniform between 0 and 1, with all digits where it is small; from it, an exponential number.
    const float uniform = fminf(fmaf(float(word), 0x1p-32f, 0x1p-33f), 1 - 0x1p-24f);
    const float score =
        row.scaled(topk::from_ordered_bits(uint32_t(key >> 32))) - logf(-log1pf(-uniform));
    best = max(best, topk::key_of(score, column, true));
  });
  best = block_max(best, partials);
  if (threadIdx.x == 0) a.tokens[r] = int32_t(~uint32_t(best));
}

// The kernel of every rung: one block per row. Rung::last_by_count and last_by_weight tell the last
// token that is kept.
template <class T, class Rung>
__global__ void __launch_bounds__(kThreads) token_sampling_rows(Args a, Philox stream, Rung rung) {
  __shared__ Key partials[kWarps];
  const int64_t r = blockIdx.x;
  Row<T> row = {static_cast<const T*>(a.logits) + r * a.stride, a.cols, 0, 0};
  Key first = 0;
  row.each([&](Key key) { first = max(first, key); });
  first = block_max(first, partials);
  row.max = topk::from_ordered_bits(uint32_t(first >> 32));
  row.inverse = a.temperature > 0 ? 1 / a.temperature : 0;
  if (uint32_t(first >> 32) == 0xffffffffu || !isfinite(row.max)) {  // the whole block
    if (threadIdx.x == 0) a.tokens[r] = -1;
    return;
  }
  rung.start(row, r);
  Key last = 0;  // all are kept
  if (a.temperature == 0) last = first;
  else if (a.top_k > 0 && a.top_k < a.cols) last = rung.last_by_count(row, first, a.top_k);
  if (a.temperature > 0 && a.top_p < 1) {
    Weight total = 0;
    row.each([&](Key key) { total += key >= last ? row.weight(key) : 0; });
    total = block_sum(total, partials);
    last = rung.last_by_weight(row, first, last, share_of(a.top_p, total));
  }
  draw(a, stream, r, row, last, partials);
}

template <class Rung>
Status launch_rows(const Args& a, const Rung& rung, cudaStream_t stream) {
  const Philox random(a.seed, a.offset);
  return with_float_type(a.dtype, [&](auto t) {
    token_sampling_rows<decltype(t)><<<unsigned(a.rows), kThreads, 0, stream>>>(a, random, rung);
    return launch_status();
  });
}
inline Support takes_floats(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "takes f32, f16 and bf16";
}

}  // namespace ridge::token_sampling
