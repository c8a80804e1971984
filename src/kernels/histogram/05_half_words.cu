// histogram rung 05, half_words: two counters of 16 bits per word, so that 65536 bins fit into the
// shared memory of one block.
//
// Since 04_run_length: bins that would be counted in device memory are counted in shared memory. A
//   counter that reaches 32768 is moved to the result by the thread that sees it, and the block
//   meets before a counter can gain another 32768: between two barriers it counts 64 elements per
//   thread at most, 512 * 64 in all.
// Stops at: shared-memory atomics that return a value, 3.8 cycles per warp on random bins; HBM for
//   words, close behind.
// Not for: few bins: one block per SM has only one copy.
#include "kernels/histogram/run_length.cuh"
#include "select/select.h"

namespace ridge::histogram::half_words {

constexpr Tuned kTuned = {25.0, 0.70};  // modelled; to be replaced by a rate measured on an H200
constexpr uint32_t kFull = 1 << 15;     // the half word's highest bit is its guard

// Blocks of 512 threads, 4 packs of at most 16 bytes per thread between two barriers: each counter
// starts below kFull and gains at most 512 * 64 = kFull. A half word holds their sum.
static_assert(kThreads * kUnroll * kPackBytes <= int(kFull), "counters may wrap around");

template <class Bins>
__global__ void __launch_bounds__(kThreads, 1) histogram_half_words(Args a, Bins bin_of) {
  extern __shared__ uint32_t table[];  // (ceil(bins / 2))
  const int words = (max(a.bins, Bins::kSpare) + 1) / 2;
  for (int i = int(threadIdx.x); i < words; i += kThreads) table[i] = 0;
  __syncthreads();

  RunLength count{[&](uint32_t bin, uint32_t times) {
    if (bin >= uint32_t(a.bins)) return;
    const uint32_t shift = bin % 2 * 16;
    const uint32_t before = atomicAdd(table + bin / 2, times << shift) >> shift & 0xffff;
    // One thread alone sees the counter pass the bound.
    if (before < kFull && before + times >= kFull) {
      atomicSub(table + bin / 2, kFull << shift);
      atomicAdd(a.counts + bin, kFull);
    }
  }};
  Walk<typename Bins::Element>(a).each([&](auto x) { count(bin_of(x)); },
                                       [&] {
                                         count.flush();  // no run longer than between two barriers
                                         __syncthreads();
                                       });
  count.flush();
  __syncthreads();
  for (int bin = int(threadIdx.x); bin < a.bins; bin += kThreads) {
    const uint32_t times = table[bin / 2] >> bin % 2 * 16 & 0xffff;
    if (times) atomicAdd(a.counts + bin, times);
  }
}

static size_t shared_bytes(const Args& a) { return size_t(table_bins(a) + 1) / 2 * 4; }

static Support supports(const Args& a, const DeviceInfo& device) {
  if (!is_counted(a.dtype)) return kNotCounted;
  return shared_bytes(a) <= size_t(device.shared_per_block_optin)
             ? kSupported
             : "the bins do not fit into shared memory";
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (const Status s = clear_counts(a, stream); !s) return s;
  if (a.n == 0) return Status::ok();
  return with_bins(a, [&](auto bins) {
    const auto kernel = histogram_half_words<decltype(bins)>;
    if (const Status s = allow_shared(kernel, shared_bytes(a)); !s) return s;
    kernel<<<walking_blocks(a, device, 1), kThreads, shared_bytes(a), stream>>>(a, bins);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "two counters per word: 65536 bins per block",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {// The counts are cleared.
                                        .global_stores_per_element = 256.0 / (1 << 20)}};

}  // namespace ridge::histogram::half_words
