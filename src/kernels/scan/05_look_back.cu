// scan rung 05, look_back: one pass, in which each tile learns from the tiles before it what comes
// before its own elements.
//
// Since 04_three_kernels: every element is read once. A tile stays in registers while one warp of
//   its block looks back over the tiles before it, 32 at a time, and adds their totals until it
//   finds a tile that knows its prefix. Loads and stores move 16 bytes per lane
//   (include/ridge/detail/scan_tiles.cuh has the kernel).
// Stops at: the look-back, which takes about a tenth of the time at 2^28 elements; HBM after that.
//   Below some millions of elements, the two launches and the latency of one look-back.
// Not for: vectors that one block can hold: they need no look-back.
#include "kernels/scan/operators.cuh"
#include "ridge/detail/scan_tiles.cuh"
#include "select/select.h"

namespace ridge::scan::look_back {

constexpr Tuned kTuned = {7.0, 0.73};  // the tiles' sizes stand with the kernel

static Support supports(const Args& a, const DeviceInfo&) {
  return is_scanned(a.dtype) ? kSupported : kNotScanned;
}
static size_t workspace(const Args& a, const DeviceInfo&) {
  return with_operator(a, [&](auto t, auto) {
    using Io = detail::VectorIo<decltype(t), Accumulator<decltype(t)>>;
    return size_t(detail::scan_bytes<detail::VectorTiles, Io>(a.n));
  });
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  return with_operator(a, [&](auto t, auto op) {
    using T = decltype(t);
    using Tiles = detail::VectorTiles;
    const detail::VectorIo<T, Accumulator<T>> io = {static_cast<const T*>(a.in),
                                                    static_cast<T*>(a.out), a.n};
    if (a.inclusive) detail::launch_scan<Tiles, true>(io, op, a.workspace, stream);
    else detail::launch_scan<Tiles, false>(io, op, a.workspace, stream);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "one pass: tiles ask their predecessors",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::scan::look_back
