// segmented_scan rung 02, warp_segmented: the heads of a warp are 32 bits that every lane can see.
//
// Since 01_thread_per_segment: all lanes work on neighbouring elements, however long the segments
//   are. A ballot tells each lane where its segment begins, so the steps of a warp's scan only have
//   to stop there: the flags themselves are never shuffled. One block walks along the vector and
//   carries the sum of the current segment.
// Stops at: one SM, which moves a small share of what the memory could.
// Not for: long vectors, while other SMs are idle.
#include "kernels/segmented_scan/segments.cuh"
#include "ridge/detail/scan_tiles.cuh"

namespace ridge::segmented_scan::warp_segmented {

constexpr int kThreads = 1024;  // and the elements of a chunk
constexpr int kWarps = kThreads / detail::kWarpLanes;
static_assert(kWarps == detail::kWarpLanes, "one warp scans what all warps found");

// This lane's value from the last head at or before it on; `begin` is that lane, or 0.
template <class T>
__device__ __forceinline__ T scan_within_segments(T x, uint32_t heads, int lane, int* begin) {
  const uint32_t up_to_me = heads & (detail::kAllLanes >> (31 - lane));
  *begin = up_to_me ? 31 - __clz(int(up_to_me)) : 0;
#pragma unroll
  for (int d = 1; d < detail::kWarpLanes; d *= 2) {
    const T below = __shfl_up_sync(detail::kAllLanes, x, d);
    if (lane - d >= *begin) x = scan::Sum<T>()(below, x);
  }
  return x;
}

template <class T, class Marks>
__global__ void __launch_bounds__(kThreads)
    segmented_scan_warp_segmented(Args args, Marks is_head) {
  __shared__ T sums[kWarps];  // of a warp's elements, from its last head on
  __shared__ uint32_t has_head[kWarps];
  const int lane = int(threadIdx.x) % detail::kWarpLanes;
  const int warp = int(threadIdx.x) / detail::kWarpLanes;
  const scan::Sum<T> plus;
  T carry = 0;  // of the segment that reaches into this chunk

  for (int64_t first = 0; first < args.n; first += kThreads) {
    const int64_t i = first + threadIdx.x;
    const T x = i < args.n ? static_cast<const T*>(args.in)[i] : T(0);
    const bool head = i < args.n && is_head(i);
    const uint32_t heads = __ballot_sync(detail::kAllLanes, head);
    int begin;
    T through = scan_within_segments(x, heads, lane, &begin);
    T before = __shfl_up_sync(detail::kAllLanes, through, 1);
    if (lane == 0 || head) before = 0;
    __syncthreads();  // the sums of the chunk before have been read
    if (lane == detail::kWarpLanes - 1) {
      sums[warp] = through;
      has_head[warp] = heads != 0;
    }
    __syncthreads();

    // The same over the warps, by every warp for itself. `warps` is what lane `lane`'s warp hands
    // on.
    const uint32_t warps_with_heads = __ballot_sync(detail::kAllLanes, has_head[lane]);
    int begin_warp;
    T warps = scan_within_segments(sums[lane], warps_with_heads, lane, &begin_warp);
    if (!(warps_with_heads & (detail::kAllLanes >> (31 - lane)))) warps = plus(carry, warps);
    const T from_warps = __shfl_sync(detail::kAllLanes, warps, warp == 0 ? 0 : warp - 1);
    const T reaching_in = warp == 0 ? carry : from_warps;  // what reaches into this warp
    carry = __shfl_sync(detail::kAllLanes, warps, detail::kWarpLanes - 1);

    if (!(heads & (detail::kAllLanes >> (31 - lane)))) {
      through = plus(reaching_in, through);
      before = plus(reaching_in, before);
    }
    if (i < args.n) static_cast<T*>(args.out)[i] = args.inclusive ? through : before;
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_scanned(a.dtype) ? kSupported : kNotScanned;
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  return with_types(a, [&](auto t, auto marks) {
    segmented_scan_warp_segmented<decltype(t)><<<1, kThreads, 0, stream>>>(a, marks);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "a ballot tells each lane where its segment starts",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 1, .conflict_free = true}};

}  // namespace ridge::segmented_scan::warp_segmented
