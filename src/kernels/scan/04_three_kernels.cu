// scan rung 04, three_kernels: every block scans its own part, in three launches.
//
// Since 03_warp_scan: all SMs work. The first kernel reduces the part of each block to its total,
//   the second scans the totals, and the third is rung 03 on each part, with the total of all
//   earlier parts as its carry. The launches are the barriers between blocks.
// Stops at: HBM, because the input is read twice: traffic of 3 n where 2 n would do.
// Not for: long vectors: the second read of the input is half of what a scan has to move.
#include "kernels/scan/block_scan.cuh"

namespace ridge::scan::three_kernels {

constexpr int64_t kPart = 8 * kThreads;  // elements per block

template <class T, class A, class Op>
__global__ void __launch_bounds__(kThreads) scan_totals_of_parts(Args args, A* totals, Op op) {
  __shared__ A shared[kWarps];
  const int64_t begin = blockIdx.x * kPart, end = min(begin + kPart, args.n);
  // Not in the order of the elements, so a chunk at a time: the operator need not commute.
  A total = op.identity();
  for (int64_t first = begin; first < end; first += kThreads) {
    const int64_t i = first + threadIdx.x;
    const A x = i < end ? static_cast<A>(static_cast<const T*>(args.in)[i]) : op.identity();
    total = op(total, block_scan_by_warps(x, op, shared).total);
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

template <class A, class Op>
__global__ void __launch_bounds__(kThreads) scan_totals(Args totals, Op op) {
  __shared__ A shared[kWarps];
  walk<A>(totals, 0, totals.n, op.identity(), op,
          [&](A x) { return block_scan_by_warps(x, op, shared); });
}

template <class T, class A, class Op>
__global__ void __launch_bounds__(kThreads) scan_parts(Args args, const A* before, Op op) {
  __shared__ A shared[kWarps];
  const int64_t begin = blockIdx.x * kPart;
  walk<T>(args, begin, min(begin + kPart, args.n), before[blockIdx.x], op,
          [&](A x) { return block_scan_by_warps(x, op, shared); });
}

static int64_t parts(const Args& a) { return (a.n + kPart - 1) / kPart; }

static Support supports(const Args& a, const DeviceInfo&) {
  return is_scanned(a.dtype) ? kSupported : kNotScanned;
}
static size_t workspace(const Args& a, const DeviceInfo&) {
  return size_t(parts(a)) * (a.dtype == Dtype::i64 ? 8 : 4);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return Status::ok();
  const unsigned blocks = unsigned(parts(a));
  return with_operator(a, [&](auto t, auto op) {
    using T = decltype(t);
    using A = Accumulator<T>;
    A* const totals = static_cast<A*>(a.workspace);
    Args middle = a;  // its elements are A, whatever dtype says
    middle.in = middle.out = totals;
    middle.n = blocks;
    middle.inclusive = false;
    scan_totals_of_parts<T><<<blocks, kThreads, 0, stream>>>(a, totals, op);
    scan_totals<A><<<1, kThreads, 0, stream>>>(middle, op);
    scan_parts<T><<<blocks, kThreads, 0, stream>>>(a, totals, op);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "totals of parts, scan of totals, scan of parts",
    .supports = supports,
    .launch = launch,
    .workspace = workspace,
    // Two, and for the 8 elements of a thread what comes before its part.
    .claims = {
        .global_loads_per_element = 2.125, .global_stores_per_element = 1, .conflict_free = true}};

}  // namespace ridge::scan::three_kernels
