// axis_reduce rung 02, block_per_row: the threads of a block share an axis.
//
// Since 01_thread_per_output: if the axis is innermost, lanes read neighbours; and 256 threads work
//   on a long axis instead of one.
// Stops at: the barrier and the idle threads that every short row pays for; at sectors, if the axis
//   is not innermost.
// Not for: rows of fewer elements than the block has threads, and axes that are not innermost.
#include "kernels/axis_reduce/operators.cuh"

namespace ridge::axis_reduce::block_per_row {

constexpr int kThreads = 256;

template <class Op, class T, class Out>
__global__ void __launch_bounds__(kThreads) reduce_block_per_row(Op op, Args a) {
  const Place place = place_of(a, blockIdx.x);
  auto acc = walk(op, a, static_cast<const T*>(a.x) + place.in, threadIdx.x, kThreads);
  acc = reduction::block_combine<kThreads>(op, acc);
  if (threadIdx.x == 0)
    static_cast<Out*>(a.out)[place.out] = reduction::finished<Out>(op, acc, a.axis);
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t results = a.outer * a.inner;
  if (results == 0) return Status::ok();
  return with_operator(a, [&](auto op, auto t, auto result) {
    reduce_block_per_row<decltype(op), decltype(t), decltype(result)>
        <<<unsigned(results), kThreads, 0, stream>>>(op, a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "a block shares a row, lanes read neighbours",
                             .supports = supports_all,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1, .barriers = 1}};

}  // namespace ridge::axis_reduce::block_per_row
