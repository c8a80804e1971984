// scan rung 03, warp_scan: lanes read one another's registers.
//
// Since 02_blelloch: two barriers per chunk instead of 20. Within a warp the steps of rung 01 need
//   neither barriers nor shared memory: a shuffle hands a register to another lane.
// Stops at: one SM, which moves a small share of what the memory could, and waits for each chunk
//   before it asks for the next.
// Not for: vectors longer than the share of a block, while other SMs are idle.
#include "kernels/scan/block_scan.cuh"

namespace ridge::scan::warp_scan {

template <class T, class Op>
__global__ void __launch_bounds__(kThreads) scan_warp_scan(Args args, Op op) {
  using A = Accumulator<T>;
  __shared__ A totals[kWarps];
  walk<T>(args, 0, args.n, op.identity(), op,
          [&](A x) { return block_scan_by_warps(x, op, totals); });
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_scanned(a.dtype) ? kSupported : kNotScanned;
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  return with_operator(a, [&](auto t, auto op) {
    scan_warp_scan<decltype(t)><<<1, kThreads, 0, stream>>>(a, op);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "shuffles instead of barriers within a warp",
    .supports = supports,
    .launch = launch,
    .claims = {
        .global_loads_per_element = 1, .global_stores_per_element = 1, .conflict_free = true}};

}  // namespace ridge::scan::warp_scan
