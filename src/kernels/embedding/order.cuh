// Sorts the rows of a batch by their tokens; rows with equal tokens keep their order. This is a
// radix sort with 8 bits per pass; each pass is a histogram per tile, a scan of all histograms, and
// a scatter. The result does not depend on the order in which blocks run.
#pragma once

#include <bit>
#include <cstdint>

namespace ridge::embedding::order {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kRounds = 8;  // of kThreads keys each, a tile
constexpr int kTile = kThreads * kRounds;
constexpr int kBits = 8, kDigits = 1 << kBits;
static_assert(kDigits == kThreads);  // one thread per digit
constexpr int kScanThreads = 1024, kScanEach = 4;

// Keys and rows of the last pass, then those of the one before. All in `workspace`.
struct Buffers {
  int32_t *keys, *rows, *other_keys, *other_rows;
  uint32_t* counts;  // (kDigits, tiles)
};
inline int64_t tiles_of(int64_t count) { return (count + kTile - 1) / kTile; }
inline int passes_of(int64_t vocab) {
  const int bits = std::bit_width(uint64_t(vocab > 1 ? vocab - 1 : 1));
  return (bits + kBits - 1) / kBits;
}

__device__ __forceinline__ uint32_t digit_of(int32_t key, int shift) {
  return uint32_t(key) >> shift & (kDigits - 1);
}

__global__ void __launch_bounds__(kThreads)
    count_digits(const int32_t* keys, int count, int shift, uint32_t* counts) {
  __shared__ uint32_t histogram[kDigits];
  histogram[threadIdx.x] = 0;
  __syncthreads();
  for (int r = 0; r < kRounds; ++r) {
    const int64_t i = int64_t(blockIdx.x) * kTile + r * kThreads + threadIdx.x;
    if (i < count) atomicAdd(&histogram[digit_of(keys[i], shift)], 1u);
  }
  __syncthreads();
  counts[int64_t(threadIdx.x) * gridDim.x + blockIdx.x] = histogram[threadIdx.x];
}

// Replaces counts by the sums of all counts before them. Their number is a multiple of 4. For one
// block.
__global__ void __launch_bounds__(kScanThreads) scan_counts(uint32_t* counts, int64_t n) {
  __shared__ uint32_t warp_sums[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t carry = 0;
  for (int64_t base = 0; base < n; base += kScanThreads * kScanEach) {
    const int64_t i = base + threadIdx.x * kScanEach;
    uint4 x = make_uint4(0, 0, 0, 0);
    if (i < n) x = *reinterpret_cast<const uint4*>(counts + i);
    const uint32_t mine = x.x + x.y + x.z + x.w;
    uint32_t sum = mine;  // of the lanes up to this one
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const uint32_t below = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += below;
    }
    if (lane == 31) warp_sums[warp] = sum;
    __syncthreads();
    uint32_t before = carry, all = carry;
#pragma unroll
    for (int w = 0; w < 32; ++w) {
      if (w == warp) before = all;
      all += warp_sums[w];
    }
    carry = all;
    __syncthreads();  // warp_sums is written again
    const uint32_t start = before + sum - mine;
    if (i < n)
      *reinterpret_cast<uint4*>(counts + i) =
          make_uint4(start, start + x.x, start + x.x + x.y, start + x.x + x.y + x.z);
  }
}

// `rows` null: the rows are still in their own order.
__global__ void __launch_bounds__(kThreads)
    place(const int32_t* keys, const int32_t* rows, int count, int shift, const uint32_t* starts,
          int32_t* keys_out, int32_t* rows_out) {
  __shared__ uint32_t next[kDigits];           // where the tile's next key of a digit goes
  __shared__ uint32_t warps[kWarps][kDigits];  // first how many, then where, a warp's begin
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  next[threadIdx.x] = starts[int64_t(threadIdx.x) * gridDim.x + blockIdx.x];
  for (int r = 0; r < kRounds; ++r) {
    const int64_t i = int64_t(blockIdx.x) * kTile + r * kThreads + threadIdx.x;
    const bool is_key = i < count;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) warps[w][threadIdx.x] = 0;
    __syncthreads();
    const int32_t key = is_key ? keys[i] : 0;
    const uint32_t digit = digit_of(key, shift);
    // Lanes behind the end get a number that no digit has.
    const uint32_t same = __match_any_sync(0xffffffffu, is_key ? digit : uint32_t(kDigits));
    const uint32_t rank = __popc(same & ((1u << lane) - 1));
    if (is_key && rank == 0) warps[warp][digit] = __popc(same);
    __syncthreads();
    uint32_t at = next[threadIdx.x];
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      const uint32_t n = warps[w][threadIdx.x];
      warps[w][threadIdx.x] = at;
      at += n;
    }
    next[threadIdx.x] = at;
    __syncthreads();
    if (is_key) {
      const uint32_t to = warps[warp][digit] + rank;
      keys_out[to] = key;
      rows_out[to] = rows ? rows[i] : int32_t(i);
    }
    __syncthreads();  // warps is cleared
  }
}

// Enqueues the passes; the result is in b.keys and b.rows.
inline void enqueue(const int32_t* tokens, int64_t count, int64_t vocab, Buffers b,
                    cudaStream_t stream) {
  const unsigned tiles = unsigned(tiles_of(count));
  const int passes = passes_of(vocab);
  const int32_t *keys = tokens, *rows = nullptr;
  for (int pass = 0; pass < passes; ++pass) {
    const bool last = (passes - pass) % 2 == 1;  // or as good as: the next but one is
    int32_t* keys_out = last ? b.keys : b.other_keys;
    int32_t* rows_out = last ? b.rows : b.other_rows;
    count_digits<<<tiles, kThreads, 0, stream>>>(keys, int(count), pass * kBits, b.counts);
    scan_counts<<<1, kScanThreads, 0, stream>>>(b.counts, int64_t(tiles) * kDigits);
    place<<<tiles, kThreads, 0, stream>>>(keys, rows, int(count), pass * kBits, b.counts, keys_out,
                                          rows_out);
    keys = keys_out;
    rows = rows_out;
  }
}

}  // namespace ridge::embedding::order
