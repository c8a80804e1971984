// scan rung 05, look_back: one pass, in which a tile finds out from its predecessors what lies
// before it.
//
// Since 04_three_kernels: every element is read once. A tile stays in registers while one warp of
// its
//   block looks back over the tiles before it, 64 or 128 at a time, adding their totals until one
//   knows its prefix. Loads and stores are 16 bytes a lane, and the block's next tile is already on
//   its way to L2 (include/ridge/detail/scan.cuh has the kernel).
// Stops at: HBM; below some millions of elements, the two launches and the latency of the
// look-back.
#include "device/scan.cuh"
#include "kernels/scan/operators.cuh"
#include "select/select.h"

namespace ridge::scan::look_back {

// Threads, bytes a thread, blocks an SM, tiles a lane looks back at. To tune: for large vectors
// also <128, 96, 8, 2>, <512, 96, 2, 2>, <256, 128, 4, 1>, <256, 64, 5, 2>; for small ones <256,
// 32, 4, 4>.
using Large = detail::ScanShape<256, 96, 4, 2>;
using Small = detail::ScanShape<256, 64, 4, 4>;
constexpr int kLargeTilesPerSm = 2;  // from so many large tiles an SM on, tiles are large
constexpr Tuned kTuned = {5.0, 0.80};

template <class F>
static auto with_shape(const Args& a, const DeviceInfo& device, F f) {
  const int64_t a_tile = Large::kThreads * Large::kBytesPerThread / int64_t(size_of(a.dtype));
  return a.n >= device.sm_count * kLargeTilesPerSm * a_tile ? f(Large()) : f(Small());
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_scanned(a.dtype) ? kSupported : kNotScanned;
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return with_operator(a, [&](auto t, auto) {
    using T = decltype(t);
    return with_shape(a, device, [&](auto shape) {
      return size_t(detail::scan_bytes<decltype(shape), detail::VectorIo<T, Accumulator<T>>>(a.n));
    });
  });
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  return with_operator(a, [&](auto t, auto op) {
    using T = decltype(t);
    const detail::VectorIo<T, Accumulator<T>> io = {static_cast<const T*>(a.in),
                                                    static_cast<T*>(a.out), a.n};
    with_shape(a, device, [&](auto shape) {
      using Shape = decltype(shape);
      if (a.inclusive)
        detail::launch_scan<Shape, true>(io, op, a.workspace, device.sm_count, stream);
      else detail::launch_scan<Shape, false>(io, op, a.workspace, device.sm_count, stream);
    });
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.name = "look_back",
                             .idea = "one pass: tiles ask their predecessors",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::scan::look_back
