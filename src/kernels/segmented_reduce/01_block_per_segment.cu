// segmented_reduce rung 01, block_per_segment: one block per segment.
//
// Stops at: idle threads. A segment of 8 elements has 256 threads and a barrier. A segment of a
//   million elements has 256 threads too, while the rest of the GPU has nothing left to do.
// Not for: segments much shorter than a block, or so long that a few of them hold up the rest.
#include "kernels/segmented_reduce/operators.cuh"

namespace ridge::segmented_reduce::block_per_segment {

constexpr int kThreads = 256;

template <class Op, class T, class Offset, class Out>
__global__ void __launch_bounds__(kThreads)
    reduce_block_per_segment(Op op, Segments<T, Offset> v, Out* out) {
  const int64_t b = v.offsets[blockIdx.x], e = v.offsets[blockIdx.x + 1];
  auto acc = op.identity();
  for (int64_t i = b + threadIdx.x; i < e; i += kThreads)
    acc = op.combine(acc, reduction::transformed(op, i - b, reduction::element(v.x[i])));
  acc = reduction::block_combine<kThreads>(op, acc);
  if (threadIdx.x == 0) out[blockIdx.x] = reduction::finished<Out>(op, acc, e - b);
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.segments == 0) return Status::ok();
  return with_operator(a, [&](auto op, auto v, auto* out) {
    reduce_block_per_segment<<<unsigned(a.segments), kThreads, 0, stream>>>(op, v, out);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one block, one segment",
                             .supports = supports_all,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1, .barriers = 1}};

}  // namespace ridge::segmented_reduce::block_per_segment
