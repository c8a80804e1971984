// radix_sort rung 03, four_passes: one stable pass for each of the four digits, the lowest first.
//
// Since 02_merge: no comparisons. A pass counts the digits of each tile, adds up the counts of all
//   tiles and digits, and then knows where every tile's keys of every digit start (digits.cuh has
//   the tile). Three launches per pass.
// Stops at: HBM: a pass reads the keys twice and writes them once. The scan of the counts, by one
//   block, keeps the other SMs idle.
// Not for: few thousand keys, where twelve launches take longer than the work.
#include "kernels/radix_sort/digits.cuh"

namespace ridge::radix_sort::four_passes {

template <class DigitOrder>
__global__ void __launch_bounds__(kThreads)
    count_digits(Args a, DigitOrder order, int pass, uint32_t* counts, int64_t tiles) {
  __shared__ uint32_t shared[kDigits];
  if (threadIdx.x < kDigits) shared[threadIdx.x] = 0;
  __syncthreads();
  const int64_t begin = int64_t(blockIdx.x) * kTile;
  for (int i = 0; i < kItems; ++i) {
    const int64_t from = begin + i * kThreads + threadIdx.x;
    if (from < a.n) atomicAdd(&shared[order.digit(a.keys[from], pass)], 1u);
  }
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * tiles + blockIdx.x] = shared[threadIdx.x];
}

// One block: counts, digit by digit and tile by tile, become the sums of all before them.
constexpr int kScanThreads = 1024;
static __global__ void __launch_bounds__(kScanThreads) scan_counts(uint32_t* counts, int64_t n) {
  __shared__ uint32_t totals[kScanThreads / kWarpSize];
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  uint32_t running = 0;
  for (int64_t first = 0; first < n; first += kScanThreads) {
    const int64_t i = first + threadIdx.x;
    const uint32_t own = i < n ? counts[i] : 0;
    uint32_t through = own;
    for (int d = 1; d < kWarpSize; d *= 2) {
      const uint32_t below = __shfl_up_sync(kAllLanes, through, d);
      if (lane >= d) through += below;
    }
    __syncthreads();
    if (lane == kWarpSize - 1) totals[warp] = through;
    __syncthreads();
    uint32_t all = 0;
    for (int w = 0; w < kScanThreads / kWarpSize; ++w) {
      if (w < warp) through += totals[w];
      all += totals[w];
    }
    if (i < n) counts[i] = running + through - own;
    running += all;
  }
}

template <bool kPairs, class DigitOrder>
__global__ void __launch_bounds__(kThreads)
    scatter_digits(Args a, DigitOrder order, int pass, const uint32_t* starts, int64_t tiles) {
  __shared__ TileShared s;
  struct Known {
    const uint32_t* starts;
    int64_t tiles;
    __device__ void announce(int, uint32_t) const {}
    __device__ uint32_t start_of(int digit, uint32_t) const {
      return starts[digit * tiles + blockIdx.x];
    }
  };
  scatter_tile<kPairs>(a, order, pass, blockIdx.x, s, Known{starts, tiles});
}

static size_t workspace(const Args& a, const DeviceInfo&) {
  return spare_bytes(a) + size_t(tiles_of(a)) * kDigits * sizeof(uint32_t);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  auto* const counts =
      reinterpret_cast<uint32_t*>(static_cast<char*>(a.workspace) + spare_bytes(a));
  const int64_t tiles = tiles_of(a);
  return with_digits(a, [&](auto pairs, auto order) {
    for (int pass = 0; pass < kPasses; ++pass) {
      const Args step = args_of_pass(a, pass);
      count_digits<<<unsigned(tiles), kThreads, 0, stream>>>(step, order, pass, counts, tiles);
      scan_counts<<<1, kScanThreads, 0, stream>>>(counts, tiles * kDigits);
      scatter_digits<pairs.value>
          <<<unsigned(tiles), kThreads, 0, stream>>>(step, order, pass, counts, tiles);
    }
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "per digit: count, add up, move",
                             .supports = sorts,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.barriers = 4}};

}  // namespace ridge::radix_sort::four_passes
