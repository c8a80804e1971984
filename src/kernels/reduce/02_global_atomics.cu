// reduce rung 02, global_atomics: every thread merges its element into one word of memory.
//
// Since 01_cpu_partials: the GPU needs no help from the CPU.
// Stops at: that one word. The L2 makes one change at a time, however many threads there are. If
//   there is no such atomic (a product), a thread tries again until no other thread interferes.
// Not for: more than some thousand elements; and sums of floats that must be the same in every run.
#include "kernels/reduce/atomics.cuh"

namespace ridge::reduce::global_atomics {

constexpr int kThreads = 256;
// Beyond that a run takes a noticeable part of a second; a product's tries grow with the threads.
constexpr int64_t kMost = 1 << 24, kMostProducts = 1 << 20;

template <class Op, class T>
__global__ void __launch_bounds__(kThreads)
    reduce_global_atomics(Op op, const T* x, const T* y, int64_t n,
                          typename Shared<Op>::Word* word) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) Shared<Op>::merge(op, word, read_one(op, x, y, i));
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (a.n > (a.kind == Kind::product ? kMostProducts : kMost))
    return "an atomic for every element: not for more than 2^24 of them (products: 2^20)";
  return shared_word::supports(a, device);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_operator(a, [&](auto op, auto t, auto result) {
    using T = decltype(t);
    auto* const word = static_cast<typename Shared<decltype(op)>::Word*>(a.workspace);
    shared_word::prepare<<<1, 1, 0, stream>>>(op, word);
    if (a.n > 0)
      reduce_global_atomics<<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
          op, static_cast<const T*>(a.x), static_cast<const T*>(a.y), a.n, word);
    shared_word::finish<<<1, 1, 0, stream>>>(op, word, a.n, static_cast<decltype(result)*>(a.out));
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one atomic per element, on the GPU alone",
                             .supports = supports,
                             .launch = launch,
                             .workspace = shared_word::workspace,
                             .claims = {.global_loads_per_element = 1, .barriers = 0}};

}  // namespace ridge::reduce::global_atomics
