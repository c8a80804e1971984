// segmented_scan rung 03, look_back: a scan of pairs, in one pass over memory.
//
// Since 02_warp_segmented: all SMs work, and every element is still read once. A scan only needs an
//   associative operator, and a pair of (sum since the last head, whether there was a head) has
//   one. So this is rung 05 of scan, with another operator and with marks beside the elements.
// Stops at: HBM; a pair costs twice as many shuffles as a number.
// Not for: vectors without heads: a plain scan reads no marks and carries half as much.
#include "kernels/segmented_scan/segmented_io.cuh"
#include "select/select.h"

namespace ridge::segmented_scan::look_back {

// Threads, bytes of elements per thread, blocks per SM, tiles that a lane looks back at.
using Shape = detail::ScanShape<128, 96, 6, 1>;
constexpr Tuned kTuned = {5.0, 0.75};

template <class T, class Marks>
static SegmentedIo<T, Marks> io_of(const Args& a, Marks marks) {
  return {static_cast<const T*>(a.in), static_cast<T*>(a.out), a.n, marks};
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_scanned(a.dtype) ? kSupported : kNotScanned;
}
static size_t workspace(const Args& a, const DeviceInfo&) {
  return with_types(a, [&](auto t, auto marks) {
    return size_t(detail::scan_bytes<Shape, SegmentedIo<decltype(t), decltype(marks)>>(a.n));
  });
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  return with_types(a, [&](auto t, auto marks) {
    using T = decltype(t);
    const auto io = io_of<T>(a, marks);
    if (a.inclusive) detail::launch_scan<Shape, true>(io, Append<T>(), a.workspace, stream);
    else detail::launch_scan<Shape, false>(io, Append<T>(), a.workspace, stream);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "one pass: a scan of pairs (sum, head)",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::segmented_scan::look_back
