// reduce rung 04, sequential_addressing: the first half of the threads adds the values of the
// second half.
//
// Since 03_interleaved_tree: the threads that still work are neighbours. Whole warps drop out
//   instead of half of each warp, lanes read neighbouring words, and there is no remainder to
//   compute.
// Stops at: idle threads. Half of them do nothing but load one element.
// Not for: any kernel that can add while it loads (05).
#include "kernels/reduce/levels.cuh"

namespace ridge::reduce::sequential_addressing {

constexpr int kThreads = 256;

template <class Op, class T, class Out>
__global__ void __launch_bounds__(kThreads)
    reduce_sequential_addressing(Op op, Level<Op, T, Out> level) {
  using Acc = reduction::AccOf<Op>;
  __shared__ alignas(16) char memory[kThreads * sizeof(Acc)];
  Acc* const of_thread = reinterpret_cast<Acc*>(memory);
  const unsigned t = threadIdx.x;
  of_thread[t] = level.read(op, int64_t(blockIdx.x) * kThreads + t);
  for (unsigned distance = kThreads / 2; distance > 0; distance /= 2) {
    __syncthreads();
    if (t < distance) of_thread[t] = op.combine(of_thread[t], of_thread[t + distance]);
  }
  if (t == 0) level.write(op, of_thread[0]);
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_operator(a, [&](auto op, auto t, auto out) {
    return launch_levels<kThreads>(a, op, t, out, [&](auto level, unsigned blocks) {
      reduce_sequential_addressing<<<blocks, kThreads, 0, stream>>>(op, level);
    });
  });
}
constinit const Rung rung = {.idea = "neighbours work on, so that whole warps drop out",
                             .supports = supports_all,
                             .launch = launch,
                             .workspace = levels_workspace<kThreads>,
                             .claims = {.barriers = 8}};

}  // namespace ridge::reduce::sequential_addressing
