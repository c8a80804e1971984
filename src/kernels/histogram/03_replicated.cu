// histogram rung 03, replicated: up to 32 copies of the bins, so that lanes do not meet.
//
// Since 02_privatised: a lane counts in copy lane % copies, and the copies of a bin are neighbours.
//   With 32 copies (256 bins take 32 KB) each lane has its own bank: no two lanes of a warp ever
//   conflict, whatever the values are. An addition takes 1.3 cycles per warp instead of 3.3.
// Stops at: HBM for 256 bins. With more bins, fewer copies fit, and conflicts come back.
// Not for: short inputs: all copies have to be cleared and added up.
#include "kernels/histogram/copies.cuh"
#include "select/select.h"

namespace ridge::histogram::replicated {

constexpr Tuned kTuned = {9.0, 0.80};  // modelled; to be replaced by a rate measured on an H200

template <class Bins>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    histogram_replicated(Args a, Bins bin_of, int log2) {
  extern __shared__ uint32_t table[];
  const int bins = max(a.bins, Bins::kSpare);
  const Copies copies = {table, bins, log2};
  copies.clear();
  Walk<typename Bins::Element>(a).each([&](auto x) {
    const uint32_t bin = bin_of(x);
    if (Bins::kSpare || bin < uint32_t(bins)) atomicAdd(copies.at(bin), 1u);
  });
  copies.merge_into(a.counts, a.bins);
}

static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_bins(a, [&](auto bins) {
    return launch_with_copies(histogram_replicated<decltype(bins)>, a, bins,
                              log2_copies(a, device, kMostCopies), device, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "32 copies, one per bank: lanes do not meet",
                             .supports = fits_shared,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 2}};

}  // namespace ridge::histogram::replicated
