// histogram rung 04, run_length: a thread counts equal neighbours in a register.
//
// Since 03_replicated: the table is touched where the bin changes, not for each element. A constant
//   input costs one atomic per thread in all. Bins that do not fit into shared memory are counted
//   in device memory, where runs matter most.
// Stops at: instruction issue on random input: each element is compared with the one before it, and
//   a branch is taken for almost every one.
// Not for: random input, where there are no runs.
#include "kernels/histogram/copies.cuh"
#include "kernels/histogram/run_length.cuh"
#include "select/select.h"

namespace ridge::histogram::run_length {

constexpr double kAtomicsPerUs = 57e3;  // of an H200, on random words of device memory

template <class Bins>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    histogram_run_length(Args a, Bins bin_of, int log2) {
  extern __shared__ uint32_t table[];
  const int bins = max(a.bins, Bins::kSpare);
  const Copies copies = {table, bins, log2};
  copies.clear();
  RunLength count{[&](uint32_t bin, uint32_t times) {
    if (Bins::kSpare || bin < uint32_t(bins)) atomicAdd(copies.at(bin), times);
  }};
  Walk<typename Bins::Element>(a).each([&](auto x) { count(bin_of(x)); });
  count.flush();
  copies.merge_into(a.counts, a.bins);
}

template <class Bins>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    histogram_run_length_global(Args a, Bins bin_of) {
  RunLength count{[&](uint32_t bin, uint32_t times) {
    if (bin < uint32_t(a.bins)) atomicAdd(a.counts + bin, times);
  }};
  Walk<typename Bins::Element>(a).each([&](auto x) { count(bin_of(x)); });
  count.flush();
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_counted(a.dtype) ? kSupported : kNotCounted;
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_bins(a, [&](auto bins) {
    if (fits_shared(a, device))
      return launch_with_copies(histogram_run_length<decltype(bins)>, a, bins,
                                log2_copies(a, device, kMostCopies), device, stream);
    if (const Status s = clear_counts(a, stream); !s) return s;
    if (a.n == 0) return Status::ok();
    histogram_run_length_global<<<walking_blocks(a, device, kBlocksPerSm), kThreads, 0, stream>>>(
        a, bins);
    return launch_status();
  });
}
// For bins that nothing else takes: as if there were no runs.
static double cost(const Args& a, const DeviceInfo& device) {
  return 10 + (double(a.n) + bytes(a) / 16) / kAtomicsPerUs * 132 / device.sm_count;
}
constinit const Rung rung = {.idea = "equal neighbours are counted in a register",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 2}};

}  // namespace ridge::histogram::run_length
