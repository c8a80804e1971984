// reduce rung 08, vectors: each load brings 16 bytes, several loads are under way, and there is a
// single launch.
//
// Since 07_multi_block_atomic: 64 bytes per thread are under way instead of 4, so two blocks per SM
//   keep the memory busy. The last block to finish combines the values of all blocks in a fixed
//   order: there is no launch before or after, and the result has the same bits every time.
// Stops at: HBM; for small vectors, the latency of a launch, a load and the meeting of the blocks.
// Not for: many short vectors, which are rows of a matrix or segments; and numbers that another
//   kernel has just had in registers.
#include "kernels/reduce/operators.cuh"
#include "select/select.h"

namespace ridge::reduce::vectors {

constexpr Tuned kTuned = {2.5, 0.92};

template <class Op, class T>
static Vectors<T, kInputs<Op>> inputs_of(const Args& a, Op, T) {
  if constexpr (kInputs<Op> == 2)
    return {{static_cast<const T*>(a.x), static_cast<const T*>(a.y)}, a.n};
  else return {{static_cast<const T*>(a.x)}, a.n};
}

static size_t workspace(const Args& a, const DeviceInfo& device) {
  return with_operator(
      a, [&](auto op, auto t, auto) { return reduce_workspace(op, inputs_of(a, op, t), device); });
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_operator(a, [&](auto op, auto t, auto result) {
    return launch_reduce(op, inputs_of(a, op, t), static_cast<decltype(result)*>(a.out),
                         {a.workspace, a.workspace_bytes}, device, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per load, and a single launch",
                             .supports = supports_all,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.barriers = 1}};

}  // namespace ridge::reduce::vectors
