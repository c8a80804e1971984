// radix_sort rung 04, one_sweep: each pass reads and writes the keys once.
//
// Since 03_four_passes: the digits of all four passes are counted before the first one, in a single
//   read, because a pass changes the order of the keys but not how often a digit occurs. What comes
//   before a tile within a digit is found by decoupled look-back: one thread per digit asks the
//   tiles before (Adinets and Merrill, "Onesweep", 2022). A tile announces its counts as soon as it
//   has them, and asks after its keys are in order in shared memory. One launch per pass.
// Stops at: instruction issue and shared memory, which a key meets five times per pass. HBM would
//   take half of the time: 36 bytes per key.
// Not for: a few thousand keys, which one block sorts at once.
#include "device/allow_shared.cuh"
#include "device/clear.cuh"
#include "device/from_detail.cuh"
#include "kernels/radix_sort/digits.cuh"
#include "select/select.h"

namespace ridge::radix_sort::one_sweep {

constexpr Tuned kTuned = {40.0, 0.40};  // modelled; to be replaced by a rate measured on an H200
constexpr int kBlocksPerSm = 2;

// A word of a tile and digit: two bits of status, 30 of count. Passes take turns with two words for
// a prefix. So what the pass before has left, prefixes all of them, says nothing to this one, and
// the words are cleared once.
constexpr uint32_t kAggregate = 1u << 30, kCount = kAggregate - 1;
__device__ __forceinline__ uint32_t prefix_of_pass(int pass) {
  return uint32_t(2 + pass % 2) << 30;
}

struct Memory {
  uint32_t* starts;   // (passes, digits): counts, then where each digit starts in the output
  uint32_t* tickets;  // (passes, kTicketWords): each pass has one, which hands out tiles
  uint32_t* words;    // (tiles, digits)
};
constexpr size_t kTicketWords = 32;  // a cache line each

static Memory memory_of(const Args& a) {
  auto* const begin = reinterpret_cast<uint32_t*>(static_cast<char*>(a.workspace) + spare_bytes(a));
  uint32_t* const tickets = begin + kPasses * kDigits;
  return {begin, tickets, tickets + kPasses * kTicketWords};
}
static size_t control_words(const Args& a) {  // all are cleared
  return kPasses * (kDigits + kTicketWords) + size_t(tiles_of(a)) * kDigits;
}

// Counts the digits of all passes. A digit has as many counters as fit, up to one per lane, which
// lie side by side: with 32 of them no two lanes of a warp meet in a bank.
constexpr int kCountThreads = 1024, kCountUnroll = 4;
template <class DigitOrder>
__global__ void __launch_bounds__(kCountThreads, 1)
    count_all_digits(Args a, DigitOrder order, int log2, uint32_t* counts) {
  extern __shared__ uint32_t shared[];  // (passes, digits, copies)
  const int copies = 1 << log2;
  for (int i = int(threadIdx.x); i < kPasses * kDigits << log2; i += kCountThreads) shared[i] = 0;
  __syncthreads();
  uint32_t* const mine = shared + threadIdx.x % unsigned(copies);
  const auto count = [&](uint32_t key) {
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass)
      atomicAdd(mine + ((pass * kDigits + order.digit(key, pass)) << log2), 1u);
  };
  const int64_t head = min(int64_t(elements_to_alignment(a.keys)), a.n);
  const int64_t packs = (a.n - head) / kPackSize<uint32_t>,
                behind = head + packs * kPackSize<uint32_t>;
  const int64_t all = int64_t(gridDim.x) * kCountThreads;
  const int64_t own = int64_t(blockIdx.x) * kCountThreads + threadIdx.x;
  for (int64_t first = own; first < packs; first += kCountUnroll * all) {
    Pack<uint32_t> some[kCountUnroll];
#pragma unroll
    for (int u = 0; u < kCountUnroll; ++u)
      if (first + u * all < packs)
        some[u] = load_pack(a.keys + head + (first + u * all) * kPackSize<uint32_t>);
#pragma unroll
    for (int u = 0; u < kCountUnroll; ++u)
      if (first + u * all < packs)
#pragma unroll
        for (int k = 0; k < kPackSize<uint32_t>; ++k) count(some[u][k]);
  }
  if (own < head) count(a.keys[own]);
  if (behind + own < a.n) count(a.keys[behind + own]);
  __syncthreads();
  // Lanes start at different copies, so that they read different banks.
  for (int i = int(threadIdx.x); i < kPasses * kDigits; i += kCountThreads) {
    uint32_t total = 0;
    for (int c = 0; c < copies; ++c) total += shared[i << log2 | ((c + i) & (copies - 1))];
    if (total) atomicAdd(counts + i, total);
  }
}

// One block per pass, one thread per digit.
static __global__ void __launch_bounds__(kThreads) scan_digits(uint32_t* counts) {
  __shared__ TileShared s;
  uint32_t* const mine = counts + blockIdx.x * kDigits + threadIdx.x;
  const bool is_digit = threadIdx.x < kDigits;
  const uint32_t before = sum_before(is_digit ? *mine : 0, s);
  if (is_digit) *mine = before;
}

// Where the keys of a tile start, by asking the tiles before it.
struct LookBack {
  const uint32_t* starts;  // of this pass
  uint32_t* words;         // of this tile
  int64_t tile;
  uint32_t prefix;

  __device__ __forceinline__ static void publish(uint32_t* word, uint32_t value) {
    __nv_atomic_store_n(word, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }
  __device__ __forceinline__ void announce(int digit, uint32_t count) const {
    publish(words + digit, (tile > 0 ? kAggregate : prefix) | count);
  }
  __device__ __forceinline__ uint32_t start_of(int digit, uint32_t count) const {
    uint32_t before = 0;
    if (tile > 0) {
      for (uint32_t* there = words + digit - kDigits;; there -= kDigits) {
        uint32_t seen, status;
        do {
          seen = __nv_atomic_load_n(there, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
          status = seen & ~kCount;
        } while (status != kAggregate && status != prefix);
        before += seen & kCount;
        if (status == prefix) break;
      }
      publish(words + digit, prefix | (before + count));
    }
    return starts[digit] + before;
  }
};

template <bool kPairs, class DigitOrder>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    sweep_digit(Args a, DigitOrder order, int pass, Memory memory) {
  __shared__ TileShared s;
  __shared__ uint32_t shared_tile;
  if (threadIdx.x == 0) shared_tile = atomicAdd(memory.tickets + pass * kTicketWords, 1u);
  __syncthreads();
  const int64_t tile = shared_tile;
  const LookBack look_back = {memory.starts + pass * kDigits, memory.words + tile * kDigits, tile,
                              prefix_of_pass(pass)};
  scatter_tile<kPairs>(a, order, pass, tile, s, look_back);
}

static size_t workspace(const Args& a, const DeviceInfo&) {
  return spare_bytes(a) + control_words(a) * sizeof(uint32_t);
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const Memory memory = memory_of(a);
  if (const Status s = clear_words(memory.starts, control_words(a), stream); !s) return s;
  const size_t counters = kPasses * kDigits * sizeof(uint32_t);
  int log2 = 5;
  while (counters << log2 > size_t(device.shared_per_block_optin)) --log2;
  const int64_t blocks = std::min<int64_t>(a.n / kCountThreads + 1, device.sm_count);
  return with_digits(a, [&](auto pairs, auto order) {
    const auto count = count_all_digits<decltype(order)>;
    if (const Status s = allow_shared(count, counters << log2); !s) return s;
    count<<<unsigned(blocks), kCountThreads, counters << log2, stream>>>(a, order, log2,
                                                                         memory.starts);
    scan_digits<<<kPasses, kThreads, 0, stream>>>(memory.starts);
    for (int pass = 0; pass < kPasses; ++pass)
      sweep_digit<pairs.value><<<unsigned(tiles_of(a)), kThreads, 0, stream>>>(
          args_of_pass(a, pass), order, pass, memory);
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
