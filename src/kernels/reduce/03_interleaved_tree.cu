// reduce rung 03, interleaved_tree: a block combines pairs, then pairs of pairs, in shared memory.
//
// Since 02_global_atomics: threads meet in shared memory, in log2(threads) steps, and no two of
//   them write to the same place. A launch leaves one value per block, so there are several
//   launches, one per level.
// Stops at: divergence. In every step the threads that still work are spread over all warps, and
//   each thread computes a remainder to find out whether it is one of them.
// Not for: any kernel: 04 is the same tree without its divergence.
#include "kernels/reduce/levels.cuh"

namespace ridge::reduce::interleaved_tree {

constexpr int kThreads = 256;

template <class Op, class T, class Out>
__global__ void __launch_bounds__(kThreads)
    reduce_interleaved_tree(Op op, Level<Op, T, Out> level) {
  using Acc = reduction::AccOf<Op>;
  __shared__ alignas(16) char memory[kThreads * sizeof(Acc)];
  Acc* const of_thread = reinterpret_cast<Acc*>(memory);
  const unsigned t = threadIdx.x;
  of_thread[t] = level.read(op, int64_t(blockIdx.x) * kThreads + t);
  for (unsigned distance = 1; distance < kThreads; distance *= 2) {
    __syncthreads();
    if (t % (2 * distance) == 0) of_thread[t] = op.combine(of_thread[t], of_thread[t + distance]);
  }
  if (t == 0) level.write(op, of_thread[0]);
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_operator(a, [&](auto op, auto t, auto out) {
    return launch_levels<kThreads>(a, op, t, out, [&](auto level, unsigned blocks) {
      reduce_interleaved_tree<<<blocks, kThreads, 0, stream>>>(op, level);
    });
  });
}
constinit const Rung rung = {.idea = "pairs of pairs in shared memory",
                             .supports = supports_all,
                             .launch = launch,
                             .workspace = levels_workspace<kThreads>,
                             .claims = {.barriers = 8}};

}  // namespace ridge::reduce::interleaved_tree
