// pointwise_loss rung 01, atomics: each thread adds the term of one element to the loss.
//
// Stops at: atomics: all of them go to the same address, one after another. And at 0 log 0, which
//   is NaN as it is written.
// Not for: targets with zeros, such as labels; nor for results that must be the same twice, because
//   the order of the sum changes from run to run.
#include "kernels/pointwise_loss/terms.cuh"

namespace ridge::pointwise_loss::atomics {

constexpr int kThreads = 256;

static __global__ void pointwise_loss_zero(float* loss) { *loss = 0; }
template <class T, class Loss>
__global__ void __launch_bounds__(kThreads) pointwise_loss_atomics(Args a, Loss loss) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.n) return;
  const float x = a.x ? to_float(static_cast<const T*>(a.x)[i]) : 0;
  const float target = to_float(static_cast<const T*>(a.target)[i]);
  if (!a.dx) {
    atomicAdd(a.loss, a.factor * loss.term(x, target));
    return;
  }
  const float gradient = a.x ? loss.gradient(x, target) : loss.gradient(target, 0);
  static_cast<T*>(a.dx)[i] = from_float<T>(*a.dloss * a.factor * gradient);
}
// Of no elements: the factor is infinite for the mean, which then is NaN.
static __global__ void pointwise_loss_of_none(Args a) { *a.loss = 0 * a.factor; }

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) {
    pointwise_loss_of_none<<<1, 1, 0, stream>>>(a);
    return launch_status();
  }
  if (!a.dx) pointwise_loss_zero<<<1, 1, 0, stream>>>(a.loss);
  return with_type_and_loss<false>(a, [&](auto t, auto loss) {
    pointwise_loss_atomics<decltype(t)>
        <<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a, loss);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one element; atomics add up the loss",
                             .supports = supports_any,
                             .launch = launch,
                             .claims = {.barriers = 0},
                             .fails_on = "one_hot"};

}  // namespace ridge::pointwise_loss::atomics
