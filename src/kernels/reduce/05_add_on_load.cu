// reduce rung 05, add_on_load: a thread combines two elements on their way into shared memory.
//
// Since 04_sequential_addressing: half as many blocks, and every thread does something before the
//   tree begins.
// Stops at: barriers: eight per 512 elements, the last five of them for a single warp.
// Not for: any GPU with shuffles (06).
#include "kernels/reduce/levels.cuh"

namespace ridge::reduce::add_on_load {

constexpr int kThreads = 256;
constexpr int kElements = 2 * kThreads;

template <class Op, class T, class Out>
__global__ void __launch_bounds__(kThreads) reduce_add_on_load(Op op, Level<Op, T, Out> level) {
  using Acc = reduction::AccOf<Op>;
  __shared__ alignas(16) char memory[kThreads * sizeof(Acc)];
  Acc* const of_thread = reinterpret_cast<Acc*>(memory);
  const unsigned t = threadIdx.x;
  const int64_t i = int64_t(blockIdx.x) * kElements + t;
  of_thread[t] = op.combine(level.read(op, i), level.read(op, i + kThreads));
  for (unsigned distance = kThreads / 2; distance > 0; distance /= 2) {
    __syncthreads();
    if (t < distance) of_thread[t] = op.combine(of_thread[t], of_thread[t + distance]);
  }
  if (t == 0) level.write(op, of_thread[0]);
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_operator(a, [&](auto op, auto t, auto out) {
    return launch_levels<kElements>(a, op, t, out, [&](auto level, unsigned blocks) {
      reduce_add_on_load<<<blocks, kThreads, 0, stream>>>(op, level);
    });
  });
}
constinit const Rung rung = {.idea = "two elements per thread, combined as they come",
                             .supports = supports_all,
                             .launch = launch,
                             .workspace = levels_workspace<kElements>,
                             .claims = {.barriers = 8}};

}  // namespace ridge::reduce::add_on_load
