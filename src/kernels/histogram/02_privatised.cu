// histogram rung 02, privatised: each block counts in shared memory, and adds its counts to the
// result once.
//
// Since 01_global_atomics: the atomics go to the block's own copy of all bins. The blocks stay and
//   stride over the input, 16 bytes per load, so that there are few copies to add up.
// Stops at: bank conflicts. Random bins meet in the same banks, and an addition to 256 of them
//   takes 2.6 times as long as one without conflicts.
// Not for: more bins than fit: with two blocks per SM, an H200 has room for 29056.
#include "kernels/histogram/copies.cuh"

namespace ridge::histogram::privatised {

template <class Bins>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    histogram_privatised(Args a, Bins bin_of, int) {
  extern __shared__ uint32_t table[];
  const int bins = max(a.bins, Bins::kSpare);
  const Copies copy = {table, bins, 0};
  copy.clear();
  Walk<typename Bins::Element>(a).each([&](auto x) {
    const uint32_t bin = bin_of(x);
    if (Bins::kSpare || bin < uint32_t(bins)) atomicAdd(table + bin, 1u);
  });
  copy.merge_into(a.counts, a.bins);
}

static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_bins(a, [&](auto bins) {
    return launch_with_copies(histogram_privatised<decltype(bins)>, a, bins, 0, device, stream);
  });
}
constinit const Rung rung = {.idea = "each block counts in its shared memory",
                             .supports = fits_shared,
                             .launch = launch,
                             .claims = {.barriers = 2}};

}  // namespace ridge::histogram::privatised
