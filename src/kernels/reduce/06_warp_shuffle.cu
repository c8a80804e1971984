// reduce rung 06, warp_shuffle: lanes read each other's registers.
//
// Since 05_add_on_load: the five steps inside a warp need neither shared memory nor barriers. One
//   barrier is left, before one warp combines the values of all warps.
// Stops at: blocks. Every 512 elements pay for the start of a block, a barrier and a partial
//   result, and a thread that waits for only two elements leaves the memory idle.
// Not for: long vectors: blocks, barriers and partial results grow with them (07).
#include "kernels/reduce/levels.cuh"

namespace ridge::reduce::warp_shuffle {

constexpr int kThreads = 256;
constexpr int kElements = 2 * kThreads;

template <class Op, class T, class Out>
__global__ void __launch_bounds__(kThreads) reduce_warp_shuffle(Op op, Level<Op, T, Out> level) {
  const int64_t i = int64_t(blockIdx.x) * kElements + threadIdx.x;
  const auto acc = reduction::block_combine<kThreads>(
      op, op.combine(level.read(op, i), level.read(op, i + kThreads)));
  if (threadIdx.x == 0) level.write(op, acc);
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_operator(a, [&](auto op, auto t, auto out) {
    return launch_levels<kElements>(a, op, t, out, [&](auto level, unsigned blocks) {
      reduce_warp_shuffle<<<blocks, kThreads, 0, stream>>>(op, level);
    });
  });
}
constinit const Rung rung = {.idea = "registers of other lanes instead of shared memory",
                             .supports = supports_all,
                             .launch = launch,
                             .workspace = levels_workspace<kElements>,
                             .claims = {.barriers = 1}};

}  // namespace ridge::reduce::warp_shuffle
