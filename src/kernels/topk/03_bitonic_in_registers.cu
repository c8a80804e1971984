// topk rung 03, bitonic_in_registers: a warp keeps the best of its row sorted in registers.
//
// Since 02_heap_per_thread: the 32 lanes hold one list together, 4 keys each, and no memory but the
//   row is touched. 32 new elements are first compared with the worst of the list; only if one is
//   better, the 32 are sorted and merged into the list, by shuffles.
// Stops at: shuffles while the list still changes; then at latency, because a warp has one load
//   under way.
// Not for: k above 128, or few rows: each row has one warp.
#include "kernels/topk/block_sort.cuh"

namespace ridge::topk::bitonic_in_registers {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kHeld = 4;  // keys per lane
constexpr int kLongest = kHeld * kWarpSize;

__device__ __forceinline__ Key exchanged(Key key, int distance, bool keeps_larger) {
  const Key other = __shfl_xor_sync(kAllLanes, key, distance);
  return (key > other) == keeps_larger ? key : other;
}

// Sorts one key per lane, the smallest in lane 0.
__device__ __forceinline__ Key warp_sort_rising(Key key, int lane) {
#pragma unroll
  for (int run = 2; run <= kWarpSize; run *= 2)
#pragma unroll
    for (int distance = run / 2; distance > 0; distance /= 2)
      key = exchanged(key, distance, ((lane & distance) != 0) == ((lane & run) == 0));
  return key;
}

// The keys of a warp, falling: key i of the list is list[i / 32] of lane i % 32.
struct List {
  Key at[kHeld];

  // Takes in 32 keys that rise from lane to lane. List and keys together are falling, then rising:
  // what is left after the worst 32 have gone is bitonic, and one merge sorts it.
  __device__ __forceinline__ void merge(Key rising, int lane) {
    Key& last = at[kHeld - 1];
    last = last > rising ? last : rising;  // the better 32 of the last 32 and the new 32: bitonic
    last = warp_sort_bitonic_rising(last, lane);
#pragma unroll
    for (int distance = kHeld / 2; distance > 0; distance /= 2)
#pragma unroll
      for (int i = 0; i < kHeld; ++i)
        if (!(i & distance)) {
          const Key a = at[i], b = at[i + distance];
          at[i] = a > b ? a : b;
          at[i + distance] = a > b ? b : a;
        }
#pragma unroll
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
#pragma unroll
      for (int i = 0; i < kHeld; ++i) at[i] = exchanged(at[i], distance, !(lane & distance));
  }

 private:
  static __device__ __forceinline__ Key warp_sort_bitonic_rising(Key key, int lane) {
#pragma unroll
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
      key = exchanged(key, distance, (lane & distance) != 0);
    return key;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) topk_bitonic_in_registers(Args a) {
  __shared__ Key lists[kWarps][kLongest];
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  const int64_t row = int64_t(blockIdx.x) * kWarps + warp;
  const bool is_row = row < a.rows;
  const T* const x = static_cast<const T*>(a.x) + row * a.x_stride;  // (cols)
  List list = {};
  Key worst = 0;  // of the k best so far
  for (int64_t first = 0; is_row && first < a.cols; first += kWarpSize) {
    const int64_t c = first + lane;
    const Key key = c < a.cols ? key_of(to_float(x[c]), c, a.largest) : 0;
    if (!__any_sync(kAllLanes, key > worst)) continue;
    list.merge(warp_sort_rising(key, lane), lane);
#pragma unroll
    for (int i = 0; i < kHeld; ++i)
      if (i == (a.k - 1) / kWarpSize)
        worst = __shfl_sync(kAllLanes, list.at[i], (a.k - 1) % kWarpSize);
  }
#pragma unroll
  for (int i = 0; i < kHeld; ++i) lists[warp][i * kWarpSize + lane] = list.at[i];
  // The block puts down one row after the other.
  for (int w = 0; w < kWarps; ++w) {
    __syncthreads();
    if (row - warp + w < a.rows) write_row<T>(a, row - warp + w, lists[w]);
  }
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (a.k > kLongest) return "holds at most 128 elements per row";
  return takes_floats(a, device);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    topk_bitonic_in_registers<decltype(t)>
        <<<unsigned((a.rows + kWarps - 1) / kWarps), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
// The row is read in steps of one load per lane, each waiting for the one before it.
static double cost(const Args& a, const DeviceInfo& device) {
  const double steps = double(a.cols) / kWarpSize;
  const double waves = double(a.rows) / (double(device.sm_count) * 16 * kWarps);
  return 4 + (waves > 1 ? waves : 1) * steps * 0.5;
}
constinit const Rung rung = {.idea = "a warp holds its best 128, sorted by shuffles",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = kWarps}};

}  // namespace ridge::topk::bitonic_in_registers
