// axis_reduce rung 01, thread_per_output: one thread walks along the axis.
//
// Stops at: sectors, if the axis is innermost: every lane of a warp is in another row, and uses one
//   number at a time of the 32 bytes that its load brings. If there are few results, at the number
//   of threads.
// Not for: an innermost axis, which wastes sectors, or few results, which leave most of the GPU
//   without threads.
#include "kernels/axis_reduce/operators.cuh"

namespace ridge::axis_reduce::thread_per_output {

constexpr int kThreads = 256;

template <class Op, class T, class Out>
__global__ void __launch_bounds__(kThreads) reduce_thread_per_output(Op op, Args a) {
  const int64_t index = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= a.outer * a.inner) return;
  const Place place = place_of(a, index);
  const auto acc = walk(op, a, static_cast<const T*>(a.x) + place.in, 0, 1);
  static_cast<Out*>(a.out)[place.out] = reduction::finished<Out>(op, acc, a.axis);
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t results = a.outer * a.inner;
  if (results == 0) return Status::ok();
  return with_operator(a, [&](auto op, auto t, auto result) {
    reduce_thread_per_output<decltype(op), decltype(t), decltype(result)>
        <<<unsigned((results + kThreads - 1) / kThreads), kThreads, 0, stream>>>(op, a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one result",
                             .supports = supports_all,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 1, .barriers = 0}};

}  // namespace ridge::axis_reduce::thread_per_output
