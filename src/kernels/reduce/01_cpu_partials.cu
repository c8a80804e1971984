// reduce rung 01, cpu_partials: every block leaves one value, and the CPU combines these values.
//
// Stops at: the CPU. The host waits for the values of the blocks, combines them, and launches a
//   second kernel that writes the result: tens of microseconds. Inside a block one thread combines
//   the values of all others, which have nothing to do meanwhile.
// Not for: a result that the GPU needs next, or a CUDA graph: `launch` waits for the stream.
#include "kernels/reduce/operators.cuh"

namespace ridge::reduce::cpu_partials {

constexpr int kThreads = 256;
constexpr int kMostBlocks = 256;

template <class Op, class T>
__global__ void __launch_bounds__(kThreads)
    reduce_cpu_partials(Op op, const T* x, const T* y, int64_t n, reduction::AccOf<Op>* partials) {
  using Acc = reduction::AccOf<Op>;
  __shared__ alignas(16) char memory[kThreads * sizeof(Acc)];
  Acc* const of_thread = reinterpret_cast<Acc*>(memory);
  Acc acc = op.identity();
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < n;
       i += int64_t(gridDim.x) * kThreads)
    acc = op.combine(acc, read_one(op, x, y, i));
  of_thread[threadIdx.x] = acc;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < kThreads; ++t) acc = op.combine(acc, of_thread[t]);
  partials[blockIdx.x] = acc;
}

template <class Op, class Out>
__global__ void put_total(Op op, reduction::AccOf<Op> total, int64_t n, Out* out) {
  *out = reduction::finished<Out>(op, total, n);
}

static int blocks_for(const Args& a) {
  return int(std::clamp<int64_t>((a.n + kThreads - 1) / kThreads, 1, kMostBlocks));
}
static size_t workspace(const Args& a, const DeviceInfo&) {
  return with_operator(a, [&](auto op, auto, auto) {
    return size_t(blocks_for(a)) * sizeof(reduction::AccOf<decltype(op)>);
  });
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_operator(a, [&](auto op, auto t, auto result) -> Status {
    using Acc = reduction::AccOf<decltype(op)>;
    using T = decltype(t);
    const int blocks = blocks_for(a);
    Acc* const partials = static_cast<Acc*>(a.workspace);  // (blocks), on the GPU
    reduce_cpu_partials<<<blocks, kThreads, 0, stream>>>(op, static_cast<const T*>(a.x),
                                                         static_cast<const T*>(a.y), a.n, partials);
    if (const Status s = launch_status(); !s) return s;

    Acc copies[kMostBlocks];  // (blocks), on the host
    cudaError_t error = cudaMemcpyAsync(copies, partials, size_t(blocks) * sizeof(Acc),
                                        cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess)
      return Error{int(error), std::string("cannot fetch the values of the blocks: ") +
                                   cudaGetErrorString(error)};
    Acc total = op.identity();
    for (int i = 0; i < blocks; ++i) total = op.combine(total, copies[i]);

    put_total<<<1, 1, 0, stream>>>(op, total, a.n, static_cast<decltype(result)*>(a.out));
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one value per block, combined on the CPU",
                             .supports = supports_all,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.global_loads_per_element = 1, .barriers = 1}};

}  // namespace ridge::reduce::cpu_partials
