// radix_sort rung 04, one_sweep: each pass reads and writes the keys once.
//
// Since 03_four_passes: the digits of all four passes are counted before the first one, in a single
//   read, because a pass changes the order of the keys but not how often a digit occurs. What comes
//   before a tile within a digit is found by decoupled look-back: one thread per digit asks the
//   tiles before (Adinets and Merrill, "Onesweep", 2022). One launch per pass.
// Stops at: HBM, 36 bytes per key; instruction issue close behind, because a key takes eight
//   ballots per pass.
// Not for: a few thousand keys, which one block sorts at once.
#include "device/clear.cuh"
#include "kernels/radix_sort/digits.cuh"
#include "select/select.h"

namespace ridge::radix_sort::one_sweep {

constexpr Tuned kTuned = {40.0, 0.55};  // modelled; to be replaced by a rate measured on an H200
constexpr int kBlocksPerSm = 2;
constexpr int kBlocksForCounts = 4;  // per SM

// A word of a tile and digit: two bits of status, 30 of count.
constexpr uint32_t kAggregate = 1u << 30, kPrefix = 2u << 30, kCount = kAggregate - 1;

struct Memory {
  uint32_t* starts;  // (passes, digits): counts, then where each digit starts in the output
  uint32_t* ticket;  // hands out tiles
  uint32_t* words;   // (tiles, digits)
};
constexpr size_t kTicketWords = 32;  // a cache line of its own

static Memory memory_of(const Args& a) {
  auto* const begin = reinterpret_cast<uint32_t*>(static_cast<char*>(a.workspace) + spare_bytes(a));
  uint32_t* const ticket = begin + kPasses * kDigits;
  return {begin, ticket, ticket + kTicketWords};
}

static __global__ void __launch_bounds__(kThreads)
    count_all_digits(Args a, Order order, uint32_t* counts) {
  __shared__ uint32_t shared[kPasses][kDigits];
  for (int i = int(threadIdx.x); i < kPasses * kDigits; i += kThreads) shared[0][i] = 0;
  __syncthreads();
  const int64_t all = int64_t(gridDim.x) * kThreads;
  for (int64_t first = int64_t(blockIdx.x) * kThreads + threadIdx.x; first < a.n;
       first += 4 * all) {
    uint32_t keys[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) keys[u] = first + u * all < a.n ? a.keys[first + u * all] : 0;
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      if (first + u * all >= a.n) continue;
      const uint32_t ordered = order(keys[u]);
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass)
        atomicAdd(&shared[pass][ordered >> pass * kDigitBits & (kDigits - 1)], 1u);
    }
  }
  __syncthreads();
  for (int i = int(threadIdx.x); i < kPasses * kDigits; i += kThreads)
    if (shared[0][i]) atomicAdd(counts + i, shared[0][i]);
}

// One block per pass, one thread per digit.
static __global__ void __launch_bounds__(kThreads) scan_digits(uint32_t* counts) {
  __shared__ TileShared s;
  uint32_t* const mine = counts + blockIdx.x * kDigits + threadIdx.x;
  const bool is_digit = threadIdx.x < kDigits;
  const uint32_t before = sum_before(is_digit ? *mine : 0, s);
  if (is_digit) *mine = before;
}

__device__ __forceinline__ void publish(uint32_t* word, uint32_t value) {
  __nv_atomic_store_n(word, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

template <bool kPairs>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    sweep_digit(Args a, Order order, int shift, Memory memory, const uint32_t* starts) {
  __shared__ TileShared s;
  __shared__ uint32_t shared_tile;
  if (threadIdx.x == 0) shared_tile = atomicAdd(memory.ticket, 1u);
  __syncthreads();
  const uint32_t tile = shared_tile;
  scatter_tile<kPairs>(a, order, shift, tile, s, [&](int digit, uint32_t count) {
    uint32_t* const word = memory.words + int64_t(tile) * kDigits + digit;
    uint32_t before = 0;
    if (tile > 0) {
      publish(word, kAggregate | count);
      for (uint32_t* there = word - kDigits;; there -= kDigits) {
        uint32_t seen;
        do {
          seen = __nv_atomic_load_n(there, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        } while (seen < kAggregate);
        before += seen & kCount;
        if (seen >= kPrefix) break;
      }
    }
    publish(word, kPrefix | (before + count));
    return starts[digit] + before;
  });
}

static size_t control_words(const Args& a) {
  return kTicketWords + size_t(tiles_of(a)) * kDigits;  // cleared before each pass
}
static size_t workspace(const Args& a, const DeviceInfo&) {
  return spare_bytes(a) + (kPasses * kDigits + control_words(a)) * sizeof(uint32_t);
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const Memory memory = memory_of(a);
  if (const Status s = clear_words(memory.starts, kPasses * kDigits, stream); !s) return s;
  const Order order(a);
  const int64_t blocks = std::min<int64_t>((a.n + kThreads - 1) / kThreads,
                                           int64_t(kBlocksForCounts) * device.sm_count);
  count_all_digits<<<unsigned(blocks), kThreads, 0, stream>>>(a, order, memory.starts);
  scan_digits<<<kPasses, kThreads, 0, stream>>>(memory.starts);
  return with_values(a, [&](auto pairs) {
    for (int pass = 0; pass < kPasses; ++pass) {
      if (const Status s = clear_words(memory.ticket, control_words(a), stream); !s) return s;
      sweep_digit<pairs.value><<<unsigned(tiles_of(a)), kThreads, 0, stream>>>(
          args_of_pass(a, pass), order, pass * kDigitBits, memory, memory.starts + pass * kDigits);
    }
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, kPasses * pass_bytes(a) + 4.0 * double(a.n), device);
}
constinit const Rung rung = {.idea = "one launch per digit: tiles ask their predecessors",
                             .supports = sorts,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.barriers = 5}};

}  // namespace ridge::radix_sort::one_sweep
