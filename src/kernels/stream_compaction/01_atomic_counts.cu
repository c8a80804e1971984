// stream_compaction rung 01, atomic_counts: each thread that keeps its element adds 1 to the count
// of its block.
//
// Stops at: atomics. All threads of a block add to the same word of device memory. Then each thread
//   finds its place by counting the flags before its own, one after the other.
// Not for: anything but learning. With one counter for all, atomics alone would give the places,
//   but elements would come out in any order.
#include "kernels/stream_compaction/parts.cuh"

namespace ridge::stream_compaction::atomic_counts {

static __global__ void __launch_bounds__(kThreads) compact_clear(uint32_t* counts, int64_t parts) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i < parts) counts[i] = 0;
}

static __global__ void __launch_bounds__(kThreads) compact_count(Args a, uint32_t* counts) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i < a.n && a.flags[i]) atomicAdd(counts + blockIdx.x, 1u);
}

template <class T>
__global__ void __launch_bounds__(kThreads) compact_write(Args a, const uint32_t* starts) {
  __shared__ uint8_t flags[kThreads];
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  flags[threadIdx.x] = i < a.n ? a.flags[i] : 0;
  __syncthreads();
  if (!flags[threadIdx.x]) return;
  uint32_t place = starts[blockIdx.x];
  for (unsigned t = 0; t < threadIdx.x; ++t) place += flags[t] != 0;
  if (place < a.n) static_cast<T*>(a.out)[place] = static_cast<const T*>(a.x)[i];
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return clear_count(a, stream);
  const int64_t parts = parts_of(a.n);
  auto* const counts = static_cast<uint32_t*>(a.workspace);
  compact_clear<<<unsigned(parts_of(parts)), kThreads, 0, stream>>>(counts, parts);
  compact_count<<<unsigned(parts), kThreads, 0, stream>>>(a, counts);
  compact_scan_counts<<<1, kWarpSize, 0, stream>>>(counts, parts, a.count);
  return with_raw_type(a.dtype, [&](auto t) {
    compact_write<decltype(t)><<<unsigned(parts), kThreads, 0, stream>>>(a, counts);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "blocks count by atomics, threads count flags before them",
                             .supports = moves,
                             .launch = launch,
                             .workspace = counts_bytes,
                             .claims = {.barriers = 1}};

}  // namespace ridge::stream_compaction::atomic_counts
