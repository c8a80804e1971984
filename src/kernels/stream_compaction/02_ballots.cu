// stream_compaction rung 02, ballots: a warp knows its flags as one word, and counts by popc.
//
// Since 01_atomic_counts: no atomics, and no thread counts flags one by one. A ballot gives every
//   lane the flags of its warp; the bits below its own are its place. Eight totals of warps are the
//   rest.
// Stops at: reading the flags twice, and the scan of all counts by one warp between two launches.
// Not for: long inputs: the middle launch keeps the device idle.
#include "kernels/stream_compaction/parts.cuh"

namespace ridge::stream_compaction::ballots {

constexpr int kWarps = kThreads / kWarpSize;

// How many elements the block keeps before this one, and in all.
struct Kept {
  bool is_kept;
  uint32_t before, total;
};
__device__ Kept kept_in_block(const Args& a, int64_t i) {
  __shared__ uint32_t totals[kWarps];
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  const bool is_kept = i < a.n && a.flags[i];
  const unsigned kept = __ballot_sync(kAllLanes, is_kept);
  if (lane == 0) totals[warp] = uint32_t(__popc(kept));
  __syncthreads();
  uint32_t before = kept_below(kept, lane), total = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    before += w < warp ? totals[w] : 0;
    total += totals[w];
  }
  return {is_kept, before, total};
}

static __global__ void __launch_bounds__(kThreads) compact_count(Args a, uint32_t* counts) {
  const Kept kept = kept_in_block(a, int64_t(blockIdx.x) * kThreads + threadIdx.x);
  if (threadIdx.x == 0) counts[blockIdx.x] = kept.total;
}

template <class T>
__global__ void __launch_bounds__(kThreads) compact_write(Args a, const uint32_t* starts) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const Kept kept = kept_in_block(a, i);
  const uint32_t place = starts[blockIdx.x] + kept.before;
  if (kept.is_kept && place < a.n) static_cast<T*>(a.out)[place] = static_cast<const T*>(a.x)[i];
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return clear_count(a, stream);
  const int64_t parts = parts_of(a.n);
  auto* const counts = static_cast<uint32_t*>(a.workspace);
  compact_count<<<unsigned(parts), kThreads, 0, stream>>>(a, counts);
  compact_scan_counts<<<1, kWarpSize, 0, stream>>>(counts, parts, a.count);
  return with_raw_type(a.dtype, [&](auto t) {
    compact_write<decltype(t)><<<unsigned(parts), kThreads, 0, stream>>>(a, counts);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "a ballot counts the flags of a warp",
                             .supports = moves,
                             .launch = launch,
                             .workspace = counts_bytes,
                             .claims = {.barriers = 1, .conflict_free = true}};

}  // namespace ridge::stream_compaction::ballots
