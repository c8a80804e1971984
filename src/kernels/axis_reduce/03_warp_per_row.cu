// axis_reduce rung 03, warp_per_row: 32 lanes share an axis and combine their values by shuffles.
//
// Since 02_block_per_row: there is no barrier and no shared memory, and a row of some hundred
//   elements keeps all lanes busy.
// Stops at: bytes in flight, one element per lane; the number of warps, if rows are few and long;
//   sectors, if the axis is not innermost.
// Not for: rows of many thousand elements, because few warps have too few bytes under way; and axes
//   that are not innermost.
#include "kernels/axis_reduce/operators.cuh"

namespace ridge::axis_reduce::warp_per_row {

constexpr int kThreads = 256;
constexpr int kRows = kThreads / reduction::kWarpSize;  // a block

template <class Op, class T, class Out>
__global__ void __launch_bounds__(kThreads) reduce_warp_per_row(Op op, Args a) {
  const int lane = int(threadIdx.x) % reduction::kWarpSize;
  const int64_t index = int64_t(blockIdx.x) * kRows + threadIdx.x / reduction::kWarpSize;
  if (index >= a.outer * a.inner) return;  // the whole warp: its shuffles stay legal
  const Place place = place_of(a, index);
  auto acc = walk(op, a, static_cast<const T*>(a.x) + place.in, lane, reduction::kWarpSize);
  acc = reduction::warp_combine(op, acc);
  if (lane == 0) static_cast<Out*>(a.out)[place.out] = reduction::finished<Out>(op, acc, a.axis);
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t results = a.outer * a.inner;
  if (results == 0) return Status::ok();
  return with_operator(a, [&](auto op, auto t, auto result) {
    reduce_warp_per_row<decltype(op), decltype(t), decltype(result)>
        <<<unsigned((results + kRows - 1) / kRows), kThreads, 0, stream>>>(op, a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "a warp shares a row, combined by shuffles",
                             .supports = supports_all,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1, .barriers = 0}};

}  // namespace ridge::axis_reduce::warp_per_row
