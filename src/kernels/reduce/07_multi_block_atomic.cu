// reduce rung 07, multi_block_atomic: as many blocks as fit on the GPU, and one atomic per block.
//
// Since 06_warp_shuffle: a thread walks through the vector and keeps its value in a register, so
//   the number of blocks, barriers and partial results no longer grows with the vector. The values
//   of the blocks meet in one word instead of another launch.
// Stops at: bytes in flight: each load brings one element per thread. Sums of floats depend on the
//   order in which blocks end, and the word needs one launch before and one after.
// Not for: sums of floats that must be the same in every run; and values wider than an atomic.
#include "kernels/reduce/atomics.cuh"

namespace ridge::reduce::multi_block_atomic {

constexpr int kThreads = 256;

template <class Op, class T>
__global__ void __launch_bounds__(kThreads)
    reduce_multi_block_atomic(Op op, const T* x, const T* y, int64_t n,
                              typename Shared<Op>::Word* word) {
  auto acc = op.identity();
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < n;
       i += int64_t(gridDim.x) * kThreads)
    acc = op.combine(acc, read_one(op, x, y, i));
  acc = reduction::block_combine<kThreads>(op, acc);
  if (threadIdx.x == 0) Shared<Op>::merge(op, word, acc);
}

static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const int64_t resident = int64_t(device.sm_count) * device.threads_per_sm / kThreads;
  const unsigned blocks = unsigned(std::min((a.n + kThreads - 1) / kThreads, resident));
  return with_operator(a, [&](auto op, auto t, auto result) {
    using T = decltype(t);
    auto* const word = static_cast<typename Shared<decltype(op)>::Word*>(a.workspace);
    shared_word::prepare<<<1, 1, 0, stream>>>(op, word);
    if (blocks > 0)
      reduce_multi_block_atomic<<<blocks, kThreads, 0, stream>>>(
          op, static_cast<const T*>(a.x), static_cast<const T*>(a.y), a.n, word);
    shared_word::finish<<<1, 1, 0, stream>>>(op, word, a.n, static_cast<decltype(result)*>(a.out));
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "blocks that stride, and one atomic per block",
                             .supports = shared_word::supports,
                             .launch = launch,
                             .workspace = shared_word::workspace,
                             .claims = {.global_loads_per_element = 1, .barriers = 1}};

}  // namespace ridge::reduce::multi_block_atomic
