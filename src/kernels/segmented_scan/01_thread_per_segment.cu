// segmented_scan rung 01, thread_per_segment: the thread that finds a head at its element adds up
// to the next head.
//
// Stops at: one load after another. A thread waits for each element before it asks for the next,
//   the lanes of a warp wait for the longest of their segments, and their loads are a segment
//   apart.
// Not for: long segments, or segments of very different lengths.
#include "kernels/segmented_scan/segments.cuh"

namespace ridge::segmented_scan::thread_per_segment {

constexpr int kThreads = 256;

template <class T, class Marks>
__global__ void __launch_bounds__(kThreads)
    segmented_scan_thread_per_segment(Args args, Marks is_head) {
  const int64_t first = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (first >= args.n || (first > 0 && !is_head(first))) return;
  T sum = 0;
  int64_t i = first;
  do {
    const T x = static_cast<const T*>(args.in)[i];
    const T through = scan::Sum<T>()(sum, x);
    static_cast<T*>(args.out)[i] = args.inclusive ? through : sum;
    sum = through;
  } while (++i < args.n && !is_head(i));
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_scanned(a.dtype) ? kSupported : kNotScanned;
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  return with_types(a, [&](auto t, auto marks) {
    segmented_scan_thread_per_segment<decltype(t)>
        <<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a, marks);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one segment",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::segmented_scan::thread_per_segment
