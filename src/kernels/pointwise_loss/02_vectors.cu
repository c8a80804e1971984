// pointwise_loss rung 02, vectors: the sum of a dot product, with another term.
//
// Since 01_atomics: loads of 16 bytes, sums of threads, warps and blocks, always in the same order
//   (device/launch_reduce.cuh); the gradient is a map (device/map.cuh). Where a target is 0, its
//   term is 0.
// Stops at: HBM.
// Not for: a loss that comes behind another kernel: its sum could be made there, without a read.
#include "device/launch_reduce.cuh"
#include "device/map.cuh"
#include "kernels/pointwise_loss/terms.cuh"
#include "select/select.h"

namespace ridge::pointwise_loss::vectors {

constexpr int kUnroll = 2;
// As measured for the dot product, and for maps of as many tensors.
constexpr Tuned kTuned = {6.0, 0.85};

template <class Loss>
struct SumOfTerms {
  Loss loss;
  float factor;
  __device__ float identity() const { return 0; }
  __device__ float transform(float x, float target) const { return loss.term(x, target); }
  __device__ float combine(float a, float b) const { return a + b; }
  __device__ float finish(float sum) const { return sum * factor; }
};
template <class Loss>
struct GradientOfTerms {
  Loss loss;
  const float* dloss;
  float factor;
  template <int In>
  __device__ void operator()(const float (&x)[In], float (&y)[1], int64_t) const {
    y[0] = *dloss * factor * loss.gradient(x[0], x[In - 1]);
  }
};

static size_t workspace(const Args& a, const DeviceInfo& device) {
  if (a.dx) return 0;
  size_t bytes = 0;
  (void)with_type_and_loss<true>(a, [&](auto t, auto loss) -> Status {
    using T = decltype(t);
    const Vectors<T, 2> v = {{nullptr, nullptr}, a.n};
    bytes = reduce_workspace(SumOfTerms<decltype(loss)>{loss, a.factor}, v, device);
    return Status::ok();
  });
  return bytes;
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_type_and_loss<true>(a, [&](auto t, auto loss) -> Status {
    using T = decltype(t);
    using Loss = decltype(loss);
    if (!a.dx) {
      const Vectors<T, 2> v = {{static_cast<const T*>(a.x), static_cast<const T*>(a.target)}, a.n};
      return launch_reduce(SumOfTerms<Loss>{loss, a.factor}, v, a.loss,
                           {a.workspace, a.workspace_bytes}, device, stream);
    }
    const GradientOfTerms<Loss> gradient = {loss, a.dloss, a.factor};
    if constexpr (Loss::kGradientInputs == 2) {
      const Map<2, 1> m = {{a.x, a.target}, {a.dx}, {a.n, a.n}, {a.n}, {1, 1}, {1}, 1, a.n};
      return launch_map<T, kUnroll>(m, gradient, stream);
    } else {
      const Map<1, 1> m = {{a.target}, {a.dx}, {a.n}, {a.n}, {1}, {1}, 1, a.n};
      return launch_map<T, kUnroll>(m, gradient, stream);
    }
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per load; sums of threads, warps, blocks",
                             .supports = supports_any,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::pointwise_loss::vectors
