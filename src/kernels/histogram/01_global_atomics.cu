// histogram rung 01, global_atomics: each thread reads one element and adds 1 to its bin.
//
// Stops at: the atomic units of the L2 cache. An H200 does about 57 thousand million additions per
//   second on 16384 words, and 1.3 thousand million where all of them meet in one word.
// Not for: few bins, or a value that is frequent: all threads wait for the same words.
#include "kernels/histogram/bins.cuh"

namespace ridge::histogram::global_atomics {

constexpr int kBlock = 256;

template <class Bins>
__global__ void __launch_bounds__(kBlock) histogram_global_atomics(Args a, Bins bin_of) {
  const int64_t i = int64_t(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= a.n) return;
  const uint32_t bin = bin_of(static_cast<const typename Bins::Element*>(a.x)[i]);
  if (bin < uint32_t(a.bins)) atomicAdd(a.counts + bin, 1u);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_counted(a.dtype) ? kSupported : kNotCounted;
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (const Status s = clear_counts(a, stream); !s) return s;
  if (a.n == 0) return Status::ok();
  return with_bins(a, [&](auto bins) {
    histogram_global_atomics<<<unsigned((a.n + kBlock - 1) / kBlock), kBlock, 0, stream>>>(a, bins);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one element, one atomic in device memory",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1, .barriers = 0}};

}  // namespace ridge::histogram::global_atomics
